// Walks the reference at /docs on the real gateway.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { LOOKS, accessible, launch, serve } from "./stage.mjs";

const gateway = await serve();
const browser = await launch();
after(async () => {
  await browser.close();
  await gateway.stop();
});

for (const [name, options] of LOOKS) {
  test(`the reference can be read and searched in ${name}`, async () => {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const faults = [];
    page.on("request", (r) => r.url().startsWith(`${gateway.url}/`) || faults.push(r.url()));
    page.on("console", (m) => m.type() === "error" && faults.push(m.text()));
    page.on("pageerror", (e) => faults.push(String(e)));
    const response = await page.goto(`${gateway.url}/docs`);
    const policy = response.headers()["content-security-policy"];
    for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"]) {
      assert.ok(policy.includes(part), policy);
    }
    await page.getByRole("heading", { name: "/api/notifications", exact: true }).waitFor();
    const call = page.locator("article").filter({ hasText: "Record a notification" });
    assert.match(await call.innerText(), /scope notify[^]*Idempotency-Key[^]*NotifyRequest[^]*202[^]*Problem/);
    await call.getByRole("link", { name: "NotifyRequest" }).click();
    assert.ok(await page.locator("#schema-NotifyRequest").isVisible());
    await accessible(page);
    await page.getByLabel("Search").fill("unknown_channel");
    assert.match(await page.locator("#found").innerText(), /1 code$/);
    assert.ok(await page.locator("#codes").getByText("unknown_channel", { exact: true }).isVisible());
    await page.getByLabel("Search").fill("preview");
    assert.equal(await page.getByRole("heading", { level: 2, name: "/healthz" }).count(), 0);
    assert.equal(await page.getByRole("heading", { level: 2, name: "/api/notifications/preview" }).count(), 1);
    await page.getByLabel("Search").fill("");
    await page.getByRole("link", { name: "/healthz" }).click();
    assert.ok(await page.getByRole("heading", { name: "/healthz", exact: true }).isVisible());
    assert.deepEqual(faults, []);
    await context.close();
  });
}
