// Walks the chat page on the real gateway, as a visitor and as whoever writes to them.
import assert from "node:assert/strict";
import { request } from "node:http";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { LOOKS, accessible, call, launch, line, root, serve } from "./stage.mjs";

const PHOTO = `data:image/png;base64,${readFileSync(join(root, "src/cli/sandbox_photo.b64"), "utf8").trim()}`;
// Rates go by address: behind a trusted proxy each visitor has one of their own.
const gateway = await serve("listen.trusted_proxies=['127.0.0.1/32']", "channels.web.show_address='always'",
  "channels.web.keepalive='5s'");
const fresh = await serve();
const browser = await launch();
after(async () => {
  await browser.close();
  await Promise.all([gateway.stop(), fresh.stop()]);
});

let visitors = 0;

/** A new visitor with the chat open; `faults` lists console errors and foreign requests so far. */
async function visit(options = {}, query = "", host = gateway) {
  visitors += 1;
  const proxied = host !== fresh ? { "x-forwarded-for": `10.0.0.${visitors}` } : {};
  const context = await browser.newContext({ extraHTTPHeaders: proxied, ...options });
  const faults = [];
  context.on("request", (r) => {
    if (!r.url().startsWith(`${host.url}/`) && !r.url().startsWith("data:")) faults.push(`request: ${r.url()}`);
  });
  context.on("console", (m) => {
    if (m.type() === "error") faults.push(`console: ${m.text()}`);
  });
  context.on("weberror", (e) => faults.push(`error: ${e.error()}`));
  const page = await context.newPage();
  await page.goto(`${host.url}/chat/web${query}`);
  await page.locator('[role="log"][aria-busy="false"]').waitFor();
  const address = await page.locator(".address code").innerText();
  const cookie = (await context.cookies()).find((c) => c.name === "tidings_visitor");
  assert.match(address, /^vis_[0-9a-z]{26}$/);
  assert.ok(cookie?.httpOnly);
  return { context, page, address, faults, cookie: `tidings_visitor=${cookie.value}`, proxied };
}

function notify(visitor, body, host = gateway) {
  return call(host, "POST", "/api/notifications", { channel: "web", recipient: visitor.address, ...body });
}

async function say(page, text) {
  await page.getByLabel("Your message").fill(text);
  await page.keyboard.press("Enter");
}

/** The texts of all bubbles, oldest first, without stamps. */
function bubbles(page) {
  return page.locator(".bubble").evaluateAll((list) => list.map((b) => b.querySelector(".text")?.textContent ?? ""));
}

function own(page, text) {
  return page.locator(".mine").filter({ hasText: text });
}

const shapes = {
  message: "Table for two at 19:00?\nSee https://ex.example.test/a?b=c.",
  header: { kind: "image", url: PHOTO, caption: "The terrace" },
  location: { latitude: 52.520008, longitude: 13.404954, name: "Bistro", address: "1 Main Street" },
  media: [
    { kind: "image", url: PHOTO, caption: "The kitchen" },
    { kind: "link", url: "https://site.example.test/", caption: "Our site" },
    { kind: "document", url: "https://files.example.test/menu.pdf", caption: "Menu", filename: "menu.pdf" },
  ],
  options: [
    { kind: "reply", text: "Yes", id: "author-yes", description: "2 seats by the window" },
    { kind: "reply", text: "Another time" },
    { kind: "link", label: "See the menu", url: "https://menu.example.test/today" },
  ],
  footer: "Reply by noon",
};

test("a newcomer copies the address, is written to and answers by a tap", async () => {
  const visitor = await visit({ permissions: ["clipboard-read", "clipboard-write"] }, "", fresh);
  const { page, address } = visitor;
  await page.getByRole("button", { name: "Copy your address" }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), address);
  await page.evaluate(() => {
    new MutationObserver(() => { window.seen ??= Date.now(); }).observe(document.querySelector(".log-inner"), { childList: true });
  });
  const asked = Date.now();
  await notify(visitor, { message: "hello", options: [{ kind: "reply", text: "Hello back" }] }, fresh);
  await page.getByText("hello", { exact: true }).waitFor();
  const seen = await page.evaluate(() => window.seen);
  console.log(`# notify to bubble: ${seen - asked} ms`);
  assert.ok(seen - asked < 2000);
  const chip = page.getByRole("button", { name: "Hello back" });
  await chip.focus();
  await page.keyboard.press("Enter");
  await own(page, "Hello back").getByText("Sent").waitFor({ state: "attached" });
  assert.ok(await chip.evaluate((c) => c === document.activeElement), "the focus is kept");
  await chip.click();
  await page.waitForFunction(() => document.querySelectorAll(".mine").length === 2);
  assert.deepEqual(visitor.faults, []);
  await visitor.context.close();
});

test("every shape is drawn, in order, in one bubble", async () => {
  const visitor = await visit();
  const { page } = visitor;
  await notify(visitor, shapes);
  const bubble = page.locator(".theirs");
  await bubble.getByText("Reply by noon").waitFor();
  const order = ["The terrace", "The kitchen", "Our site", "menu.pdf", "Bistro", "Table for two", "Yes", "Another time", "See the menu", "Reply by noon"];
  const text = await bubble.innerText();
  const places = order.map((word) => text.indexOf(word));
  assert.deepEqual(places, [...places].sort((a, b) => a - b));
  assert.ok(places.every((place) => place >= 0), text);
  assert.equal(await page.locator(".bubble").count(), 1);
  // Pictures are drawn from our own origin, and named by their caption.
  for (const name of ["The terrace", "The kitchen"]) {
    const image = bubble.locator(`img[alt="${name}"]`);
    await page.waitForFunction((i) => i.naturalWidth === 120, await image.elementHandle());
    assert.match(await image.getAttribute("src"), new RegExp(`^${gateway.url}/api/interactions/media/med_`));
  }
  // What leads elsewhere says where, and takes nothing with it.
  for (const [name, href, host] of [
    ["Our site", "https://site.example.test/", "site.example.test"],
    ["menu.pdf", "https://files.example.test/menu.pdf", "files.example.test"],
    ["See the menu", "https://menu.example.test/today", "menu.example.test"],
    ["https://ex.example.test/a?b=c", "https://ex.example.test/a?b=c", "ex.example.test"],
    ["Open the map", "https://www.openstreetmap.org/?mlat=52.520008&mlon=13.404954#map=16/52.520008/13.404954", ""],
  ]) {
    const link = bubble.getByRole("link", { name });
    assert.equal(await link.getAttribute("href"), href);
    assert.equal(await link.getAttribute("target"), "_blank");
    assert.equal(await link.getAttribute("rel"), "noreferrer noopener");
    assert.ok((await link.innerText()).includes(host));
  }
  assert.match(text, /52\.520008, 13\.404954/);
  await notify(visitor, { message: "To drink?", sections: [
    { title: "Hot", rows: [{ text: "Tea", description: "green or black" }, { text: "Coffee" }] },
    { title: "Cold", rows: [{ text: "Water" }] },
  ] });
  await page.getByRole("group", { name: "Hot" }).getByRole("button", { name: "Tea green or black" }).click();
  await own(page, "Tea").waitFor();
  assert.deepEqual(visitor.faults, [], "nothing was fetched that only a click should fetch");
  await visitor.context.close();
});

/** A second of a moving square, recorded by the browser itself. */
async function film(page) {
  const bytes = await page.evaluate(async () => {
    const canvas = document.createElement("canvas");
    const recorder = new MediaRecorder(canvas.captureStream(20), { mimeType: "video/webm" });
    const parts = [];
    recorder.ondataavailable = (event) => parts.push(event.data);
    const stopped = new Promise((resolve) => { recorder.onstop = resolve; });
    recorder.start();
    for (let n = 0; n < 10; n += 1) {
      canvas.getContext("2d").fillRect(n * 5, 0, 10, 10);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    recorder.stop();
    await stopped;
    return [...new Uint8Array(await new Blob(parts).arrayBuffer())];
  });
  return Buffer.from(bytes);
}

/** Half a second of silence as a WAV file. */
function silence() {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + 4000, 4);
  head.write("WAVEfmt ", 8);
  for (const [value, size, at] of [[16, 4, 16], [1, 2, 20], [1, 2, 22], [8000, 4, 24], [8000, 4, 28], [1, 2, 32], [8, 2, 34]]) {
    head.writeUIntLE(value, at, size);
  }
  head.write("data", 36);
  head.writeUInt32LE(4000, 40);
  return Buffer.concat([head, Buffer.alloc(4000, 128)]);
}

async function upload(type, body) {
  const headers = { authorization: `Bearer ${gateway.key}`, "content-type": type };
  const response = await fetch(`${gateway.url}/api/media`, { method: "POST", headers, body });
  assert.equal(response.status, 201, await response.clone().text());
  return (await response.json()).url;
}

test("a video and a sound play in the bubble, a document of our own is saved under its name", async () => {
  const visitor = await visit();
  const { page } = visitor;
  const media = [
    { kind: "video", url: await upload("video/webm", await film(page)), caption: "A square" },
    { kind: "audio", url: await upload("audio/wav", silence()), caption: "Silence" },
    { kind: "document", url: await upload("application/pdf", Buffer.from("%PDF-1.4\n%%EOF\n")), filename: "menu.pdf" },
  ];
  await notify(visitor, { message: "Look and listen", media });
  for (const name of ["video", "audio"]) {
    const player = page.locator(name);
    await page.waitForFunction((p) => p.readyState >= 1, await player.elementHandle());
    assert.ok(await player.evaluate((p) => p.controls && p.preload === "metadata" && p.duration > 0));
  }
  assert.equal(await page.locator("video").getAttribute("aria-label"), "A square");
  const saved = page.waitForEvent("download");
  await page.getByRole("link", { name: "menu.pdf" }).click();
  assert.equal((await saved).suggestedFilename(), "menu.pdf");
  assert.deepEqual(visitor.faults, []);
  await visitor.context.close();
});

test("wb_36 a flat option's description is drawn under its label and comes back with the tap", async () => {
  const visitor = await visit({}, "?table=7");
  const { page } = visitor;
  await notify(visitor, shapes);
  const chip = page.getByRole("button", { name: "Yes 2 seats by the window" });
  const [label, under] = await Promise.all([chip.getByText("Yes"), chip.getByText("2 seats")].map((l) => l.boundingBox()));
  assert.ok(under.y >= label.y + label.height - 1);
  await chip.click();
  await own(page, "Yes").getByText("Sent").waitFor({ state: "attached" });
  const { inbound } = await call(gateway, "GET", "/api/inbound?channel=web&limit=50");
  const tap = inbound.find((m) => m.sender.address === visitor.address);
  assert.equal(tap.kind, "tap");
  assert.equal(tap.text, "Yes");
  assert.deepEqual(tap.params, { reply_id: "author-yes", reply_description: "2 seats by the window", table: "7" });
  assert.deepEqual(visitor.faults, []);
  await visitor.context.close();
});

test("what is not sent says so and is sent once, under the same id", async () => {
  const visitor = await visit();
  const { page, context } = visitor;
  const ids = [];
  const refuse = (route) => {
    ids.push(route.request().postDataJSON().client_message_id);
    return route.fulfill({ status: 503, json: { code: "store_unavailable" } });
  };
  await context.route("**/messages*", refuse);
  await say(page, "refused at first");
  await page.getByText("Not sent, ").waitFor();
  await context.unroute("**/messages*", refuse);
  await context.route("**/messages*", async (route) => {
    ids.push(route.request().postDataJSON().client_message_id);
    await route.continue();
  });
  await page.getByRole("button", { name: "try again" }).click();
  await own(page, "refused at first").getByText("Sent", { exact: true }).waitFor({ state: "attached" });
  assert.equal(ids.length, 2);
  assert.equal(ids[0], ids[1]);
  // Accepted, but the answer is lost: the frame says that it arrived.
  await context.unroute("**/messages*");
  await context.route("**/messages*", async (route) => {
    await route.fetch();
    await route.abort();
  });
  await say(page, "answer lost");
  await own(page, "answer lost").getByText("Sent", { exact: true }).waitFor({ state: "attached" });
  assert.deepEqual(await bubbles(page), ["refused at first", "answer lost"]);
  await page.reload();
  await own(page, "answer lost").waitFor();
  assert.deepEqual(await bubbles(page), ["refused at first", "answer lost"]);
  assert.ok(visitor.faults.every((f) => f.startsWith("console: Failed to load resource")), String(visitor.faults));
  await context.close();
});

for (const [how, words] of [["cut", "that ends"], ["freeze", "that falls silent"]]) {
  test(`ten seconds of a line ${words} lose nothing and double nothing`, async () => {
    const wire = await line(gateway);
    const visitor = await visit({}, "", { url: wire.url });
    const { page, context } = visitor;
    await notify(visitor, { message: "before" });
    await page.getByText("before", { exact: true }).waitFor();
    wire[how]();
    await context.setOffline(true);
    await page.getByText("You are offline.").waitFor();
    await say(page, "typed without a network");
    await page.getByText("Not sent, ").waitFor();
    const during = [];
    for (let n = 1; n <= 10; n += 1) {
      during.push(`during ${n}`);
      await Promise.all([notify(visitor, { message: `during ${n}` }), new Promise((r) => setTimeout(r, 1000))]);
    }
    assert.deepEqual(await bubbles(page), ["before", "typed without a network"]);
    wire.mend();
    await context.setOffline(false);
    await page.getByText("during 10", { exact: true }).waitFor();
    await page.getByRole("button", { name: "try again" }).click();
    await own(page, "typed without a network").getByText("Sent", { exact: true }).waitFor({ state: "attached" });
    await notify(visitor, { message: "after" });
    await page.getByText("after", { exact: true }).waitFor();
    assert.deepEqual(await bubbles(page), ["before", ...during, "typed without a network", "after"]);
    assert.equal(await page.getByText("You are offline.").count(), 0);
    await context.close();
    wire.close();
  });
}

test("a gateway that is killed and comes back is found again, with everything it had taken", async () => {
  const mortal = await serve();
  const visitor = await visit({}, "", mortal);
  const { page } = visitor;
  try {
    await notify(visitor, { message: "before" }, mortal);
    await say(page, "said before");
    await own(page, "said before").getByText("Sent", { exact: true }).waitFor({ state: "attached" });
    await mortal.restart(async () => {
      await page.getByText("The connection is lost.").waitFor();
      await say(page, "said meanwhile");
      await page.getByText("Not sent, ").waitFor();
    });
    await page.getByText("The connection is lost.").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "try again" }).click();
    await own(page, "said meanwhile").getByText("Sent", { exact: true }).waitFor({ state: "attached" });
    await notify(visitor, { message: "after" }, mortal);
    await page.getByText("after", { exact: true }).waitFor();
    assert.deepEqual(await bubbles(page), ["before", "said before", "said meanwhile", "after"]);
  } finally {
    await visitor.context.close();
    await mortal.stop();
  }
});

test("wb_28 two windows show one order, and a reply stands below what it answers", async () => {
  const visitor = await visit();
  const { page, context } = visitor;
  const other = await context.newPage();
  await other.goto(`${gateway.url}/chat/web`);
  await other.locator('[role="log"][aria-busy="false"]').waitFor();
  const replies = [];
  const talk = async (window, name) => {
    for (let n = 0; n < 5; n += 1) {
      await say(window, `${name}${n}`);
      await own(window, `${name}${n}`).getByText("Sent", { exact: true }).waitFor({ state: "attached" });
      replies.push(notify(visitor, { message: `re ${name}${n}` }));
    }
  };
  await Promise.all([talk(page, "a"), talk(other, "b")]);
  await Promise.all(replies);
  for (const window of [page, other]) await window.waitForFunction(() => document.querySelectorAll(".bubble").length === 20);
  const [first, second] = [await bubbles(page), await bubbles(other)];
  assert.deepEqual(first, second);
  assert.equal(new Set(first).size, 20);
  for (const name of ["a", "b"]) {
    for (let n = 0; n < 5; n += 1) assert.ok(first.indexOf(`re ${name}${n}`) > first.indexOf(`${name}${n}`));
  }
  assert.deepEqual(visitor.faults, []);
  await context.close();
});

test("wb_20 markup in every field is text", async () => {
  const visitor = await visit();
  const { page } = visitor;
  const hostile = `<script>window.hit=1</script><img src=x onerror="window.hit=1"></title>javascript:window.hit=1`;
  const turned = "\u202Emoc.knab";
  const media = [
    { kind: "image", url: PHOTO, caption: `${hostile} ${turned}` },
    { kind: "link", url: "https://evil.example.test/", caption: "\u05d0 bank.test" },
    { kind: "document", url: "https://files.example.test/x", caption: hostile, filename: "<b>.pdf" },
  ];
  const location = { latitude: 1, longitude: 2, name: hostile, address: hostile };
  const link = { kind: "link", label: "\u05d0 bank.test", url: "https://evil.example.test/" };
  await notify(visitor, { message: `${hostile} ${turned}`, media, location, header: { kind: "image", url: PHOTO, caption: hostile },
    footer: hostile, options: [{ kind: "reply", text: `${hostile} ${turned}`, description: hostile }, link] });
  const refused = { message: "x", channel: "web", recipient: visitor.address, options: [{ ...link, label: turned }] };
  await call(gateway, "POST", "/api/notifications", refused, 400);
  await notify(visitor, { message: hostile, sections: [{ title: hostile, rows: [{ text: hostile, description: hostile }] }] });
  await page.getByRole("group", { name: "<script>" }).getByRole("button").click();
  await own(page, "<script>").waitFor();
  await say(page, hostile);
  await page.waitForFunction(() => document.querySelectorAll(".mine").length === 2);
  assert.equal(await page.evaluate(() => window.hit), undefined);
  assert.equal(await page.locator(".bubble script, .bubble b, .bubble img[src='x'], a[href^='javascript']").count(), 0);
  assert.equal(await page.locator(".log").evaluate((log) => log.textContent.includes("\u202E")), false);
  // A label is isolated, so that it cannot turn the host beside it around.
  for (const name of [".card-label", ".choice-label"]) {
    const label = page.locator(name).filter({ hasText: "bank.test" });
    assert.equal(await label.evaluate((l) => l.localName), "bdi");
    assert.match(await label.locator("xpath=..").innerText(), /evil\.example\.test/);
  }
  assert.deepEqual(visitor.faults, []);
  await visitor.context.close();
});

test("wb_33 media that are gone become a dead link in a whole bubble", async () => {
  const visitor = await visit();
  const { page, context } = visitor;
  await context.route("**/api/interactions/media/*", (route) => route.fulfill({ status: 404 }));
  await notify(visitor, { message: "Still here", media: [{ kind: "image", url: PHOTO, caption: "The terrace" }] });
  const card = page.getByRole("link", { name: "The terrace" });
  await card.getByText("picture not available").waitFor();
  assert.match(await card.getAttribute("href"), /\/api\/interactions\/media\/med_/);
  assert.ok(await page.getByText("Still here").isVisible());
  await context.close();
});

test("a frame that cannot be read is seen, and costs the others nothing", async () => {
  const visitor = await visit();
  const { page, context } = visitor;
  const at = new Date().toISOString();
  const frame = (id, body, event = "chat.message") => `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(body)}\n\n`;
  await page.close();
  await context.route("**/stream", (route) => route.fulfill({
    contentType: "text/event-stream",
    body: "retry: 30000\n\n" + frame("1-0", { dir: "out", at, text: "no id" }) + frame("2-0", { id: "2-0", at, text: "no dir" }) +
      "id: 3-0\nevent: chat.message\ndata: {broken\n\n" + frame("4-0", { id: "4-0", dir: "out", at, text: "sound", media: [{ kind: "image" }] }) +
      frame("5-0", { id: "5-0", dir: "out", at, text: "Your order", token: "f:x", model: {} }, "chat.form") +
      frame("6-0", { id: "6-0", dir: "out", at, options: [{ kind: "link", label: "\u202Emoc.knab", url: "javascript:window.hit=1" }],
        media: [{ kind: "link", url: "javascript:window.hit=1", caption: "\u202Emoc.knab" }] }) +
      "event: chat.later\ndata: {}\n\nevent: chat.backlog_done\ndata: {}\n\n",
  }));
  const again = await context.newPage();
  await again.goto(`${gateway.url}/chat/web`);
  await again.getByText("Your order").waitFor();
  assert.equal(await again.locator(".broken").count(), 3);
  assert.match(await again.locator(".broken").first().innerText(), /cannot be shown/);
  assert.match(await again.locator(".bubble").nth(3).innerText(), /cannot be shown[^]*sound/);
  assert.match(await again.locator(".bubble").nth(4).innerText(), /Your order[^]*form/);
  // What the gateway refuses to take is harmless here too.
  const worst = again.locator(".bubble").nth(5);
  assert.equal(await worst.getByText("no web address").count(), 2);
  assert.equal(await worst.getByRole("link").count(), 0);
  assert.equal(await worst.evaluate((b) => b.textContent.includes("\u202E")), false);
  await context.close();
});

test("a visitor whose session is gone is told so, and the page stops asking", async () => {
  const visitor = await visit();
  const { page, context } = visitor;
  await context.clearCookies();
  await say(page, "too late");
  await page.getByText("Not sent. This chat has ended.").waitFor();
  await context.setOffline(true);
  await context.setOffline(false);
  await page.getByText("This chat has ended on this browser.").waitFor();
  assert.ok(await page.getByLabel("Your message").isDisabled());
  let asked = 0;
  context.on("request", () => { asked += 1; });
  await page.waitForTimeout(2500);
  assert.equal(asked, 0);
  await page.getByRole("button", { name: "Reload" }).click();
  await page.getByText("No messages yet.").waitFor();
  await context.close();
});

/** A bare request, with any `Host`. */
function bare(method, path, headers, body) {
  return new Promise((resolve, reject) => {
    const sent = request(gateway.url + path, { method, headers, agent: false }, (response) => {
      response.resume();
      if (!(response.headers["content-type"] ?? "").startsWith("text/event-stream")) return resolve(response);
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
        if (!text.includes(": keepalive")) return;
        sent.destroy();
        resolve(Object.assign(response, { text }));
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

test("wb_32 a proxy is told not to buffer, and a quiet stream gives signs of life", async () => {
  const visitor = await visit();
  const { statusCode, headers, text } = await bare("GET", "/chat/web/stream", { cookie: visitor.cookie, ...visitor.proxied });
  assert.equal(statusCode, 200);
  assert.equal(headers["content-type"], "text/event-stream; charset=utf-8");
  assert.equal(headers["cache-control"], "no-store");
  assert.equal(headers["x-accel-buffering"], "no");
  assert.equal(headers["content-encoding"], undefined);
  assert.match(text, /^retry: 3000\n/);
  await visitor.context.close();
});

test("wb_34 wb_35 a foreign name for this host gets nothing, whatever cookie comes with it", async () => {
  const visitor = await visit();
  const evil = { host: "evil.test", cookie: visitor.cookie, ...visitor.proxied };
  const body = JSON.stringify({ text: "from evil", client_message_id: "c-12345678" });
  for (const [method, path, more] of [
    ["GET", "/chat/web", {}],
    ["GET", "/chat/web/stream", {}],
    ["POST", "/chat/web/messages", { "content-type": "application/json", "content-length": Buffer.byteLength(body) }],
  ]) {
    const response = await bare(method, path, { ...evil, ...more }, method === "POST" ? body : undefined);
    assert.equal(response.statusCode, 403, path);
    assert.equal(response.headers["set-cookie"], undefined);
  }
  await notify(visitor, { message: "mark" });
  await visitor.page.getByText("mark", { exact: true }).waitFor();
  assert.deepEqual(await bubbles(visitor.page), ["mark"]);
  await visitor.context.close();
});

const talker = await visit();
await notify(talker, shapes);
await notify(talker, { message: "To drink?", sections: [{ title: "Hot", rows: [{ text: "Tea", description: "green" }, { text: "Coffee" }] }] });
await notify(talker, { message: "مرحبا بك", options: [{ kind: "reply", text: "نعم" }], footer: "قبل الظهر" });
await say(talker.page, `A long answer: ${"w".repeat(300)} https://ex.example.test/`);
await own(talker.page, "A long answer").getByText("Sent", { exact: true }).waitFor({ state: "attached" });
const state = await talker.context.storageState();

for (const [name, options] of LOOKS) {
  test(`axe finds nothing serious in a full transcript in ${name}`, async () => {
    const { context, page, faults } = await visit({ ...options, storageState: state });
    await own(page, "A long answer").waitFor();
    await page.locator('img[alt="The terrace"]').scrollIntoViewIfNeeded();
    await context.route("**/messages*", (route) => route.fulfill({ status: 503 }));
    await say(page, "not sent");
    await page.getByText("Not sent, ").waitFor();
    await page.waitForTimeout(300);
    await accessible(page);
    assert.ok(faults.every((f) => f.includes("503")), String(faults));
    await context.close();
  });
}

test("the keyboard reaches every control in the order of reading", async () => {
  const { context, page } = await visit({ storageState: state });
  await own(page, "A long answer").waitFor();
  await page.getByLabel("Your message").focus();
  const reached = [];
  for (let n = 0; n < 14; n += 1) {
    await page.keyboard.press("Shift+Tab");
    reached.push(await page.evaluate(() => document.activeElement.innerText?.split("\n")[0] ?? ""));
  }
  const controls = reached.reverse().join("|");
  assert.match(controls, /The terrace|Our site/);
  assert.match(controls, /menu\.pdf.*Open the map.*Yes.*Another time.*See the menu.*Tea.*Coffee/);
  await context.close();
});

test("the channel's colours are put on in light and dark, and its texts can be read", async () => {
  const themed = await serve("channels.web.theme={accent='#ffd000',background='#14323f'}", "channels.web.title='</title><b>Bistro'");
  try {
    for (const [, options] of LOOKS) {
      const visitor = await visit(options, "", themed);
      await notify(visitor, shapes, themed);
      await say(visitor.page, "hello");
      await own(visitor.page, "hello").getByText("Sent", { exact: true }).waitFor({ state: "attached" });
      assert.equal(await visitor.page.title(), "</title><b>Bistro");
      assert.equal(await visitor.page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(20, 50, 63)");
      assert.equal(await own(visitor.page, "hello").evaluate((b) => getComputedStyle(b).backgroundColor), "rgb(255, 208, 0)");
      await visitor.page.waitForTimeout(300);
      await accessible(visitor.page);
      assert.deepEqual(visitor.faults, []);
      await visitor.context.close();
    }
  } finally {
    await themed.stop();
  }
});
