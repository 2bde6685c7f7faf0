// Walks the sandbox's page in Debian's Chromium: starts `tidings sandbox`, makes the pasted call,
// looks at what the person would see, and takes the README's picture.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import assert from "node:assert/strict";
import { test, after } from "node:test";
import { LOOKS, accessible, launch, root } from "./stage.mjs";

const folder = mkdtempSync(join(tmpdir(), "tidings-browser-"));

const sandbox = spawn(
  join(root, "target/release/tidings"),
  ["sandbox", "--listen", "127.0.0.1:0", "--vendors", "127.0.0.1:0", "--data-dir", folder],
  { stdio: ["ignore", "pipe", "ignore"] },
);
const ready = await new Promise((resolve, reject) => {
  let text = "";
  sandbox.stdout.on("data", (chunk) => {
    text += chunk;
    const line = text.split("\n").find((l) => l.startsWith("READY "));
    if (line) resolve(JSON.parse(line.slice(6)));
  });
  sandbox.on("exit", (code) => reject(new Error(`the sandbox ended with ${code}`)));
});
const browser = await launch();

after(async () => {
  await browser.close();
  sandbox.kill("SIGTERM");
  await new Promise((resolve) => sandbox.on("exit", resolve));
  rmSync(folder, { recursive: true, force: true });
});

async function notify(body) {
  const response = await fetch(`${ready.gateway}/api/notifications`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${ready.key}`,
      "content-type": "application/json",
      prefer: "wait=20",
    },
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 200, await response.clone().text());
  return response.json();
}

// The call that the command prints for pasting, read from its own source.
const photo = readFileSync(join(root, "src/cli/sandbox_photo.b64"), "utf8").trim();
const pasted = {
  message: "Table for two at 19:00?",
  channel: "telegram",
  media: [{ kind: "image", url: `data:image/png;base64,${photo}`, caption: "The terrace" }],
  location: { latitude: 52.520008, longitude: 13.404954, name: "Bistro", address: "1 Main Street" },
  options: [
    { kind: "reply", text: "Yes", id: "yes" },
    { kind: "reply", text: "Another time", id: "later" },
    { kind: "link", label: "See the menu", url: "https://menu.example.test/today" },
  ],
  footer: "Reply by noon",
};

async function open(options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const seen = { foreign: [], errors: [] };
  page.on("request", (request) => {
    if (!request.url().startsWith(ready.vendors)) seen.foreign.push(request.url());
  });
  page.on("console", (message) => {
    if (message.type() === "error") seen.errors.push(message.text());
  });
  page.on("pageerror", (error) => seen.errors.push(String(error)));
  await page.goto(ready.page);
  return { context, page, seen };
}

test("the pasted call appears as the person would see it", async () => {
  const { context, page, seen } = await open({ viewport: { width: 760, height: 860 } });
  await notify(pasted);
  await page.getByText("Table for two at 19:00?").first().waitFor({ timeout: 10_000 });
  for (const text of ["Yes", "Another time", "See the menu", "The terrace", "Bistro", "Reply by noon"]) {
    assert.ok(await page.getByText(text).first().isVisible(), text);
  }
  const drawn = await page.locator("img").evaluateAll((list) => list.filter((i) => i.naturalWidth === 120).length);
  assert.ok(drawn >= 1, "the photo is drawn from the bytes received");
  mkdirSync(join(root, "target/pictures"), { recursive: true });
  const picture = join(root, "target/pictures/sandbox.png");
  await page.screenshot({ path: picture });
  if (process.env.TIDINGS_REFRESH_DOCS) copyFileSync(picture, join(root, "docs/sandbox.png"));
  assert.deepEqual(seen.foreign, [], "no request leaves the origin");
  assert.deepEqual(seen.errors, []);
  await context.close();
});

test("hostile text stays text", async () => {
  const { context, page, seen } = await open({});
  const hostile = `<script>window.hit=1</script><img src=x onerror="window.hit=1"> \u202Eevil`;
  await notify({ message: hostile, channel: "telegram", recipient: "66",
    options: [{ kind: "reply", text: "<b>bold</b>" }] });
  await page.getByText("<script>").first().waitFor({ timeout: 10_000 });
  assert.equal(await page.evaluate(() => window.hit), undefined);
  assert.deepEqual(seen.foreign, []);
  await context.close();
});

for (const [name, options] of LOOKS) {
  test(`axe finds nothing serious in ${name}`, async () => {
    const { context, page } = await open(options);
    await page.getByText("Table for two at 19:00?").first().waitFor({ timeout: 10_000 });
    await accessible(page);
    await context.close();
  });
}
