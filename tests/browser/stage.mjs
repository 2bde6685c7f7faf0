// What every walk in the browser needs: a gateway of its own, Debian's Chromium, axe.
import { spawn } from "node:child_process";
import { connect, createServer } from "node:net";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
export const root = join(here, "..", "..");
const axe = readFileSync(join(here, "node_modules/axe-core/axe.min.js"), "utf8");

/** Starts `tidings serve` on a free port with these `--set`s; gives its address, a key, `restart` and `stop`. */
export async function serve(...settings) {
  const folder = mkdtempSync(join(tmpdir(), "tidings-browser-"));
  const read = (name) => readFileSync(join(folder, name), "utf8").trim();
  let child = await start(folder, "127.0.0.1:0", settings);
  const url = read("address");
  return {
    url,
    key: read("operator.key"),
    /** Kills it, waits, and starts it again where it was. */
    restart: async (wait) => {
      await child.end("SIGKILL");
      await wait();
      child = await start(folder, new URL(url).host, settings);
    },
    stop: async () => {
      await child.end("SIGTERM");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function start(folder, listen, settings) {
  const flags = settings.flatMap((setting) => ["--set", setting]);
  const address = join(folder, "address");
  rmSync(address, { force: true });
  const child = spawn(join(root, "target/release/tidings"),
    ["serve", "--listen", listen, "--data-dir", folder, ...flags],
    { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  // Whatever ends this walk, the gateway ends with it.
  process.on("exit", () => child.kill("SIGKILL"));
  let told = "";
  child.stderr.on("data", (chunk) => { told = (told + chunk).slice(-4000); });
  let ended = false;
  const exit = new Promise((resolve) => child.on("exit", () => resolve((ended = true))));
  for (let tries = 0; ; tries += 1) {
    try {
      if ((await fetch(`${readFileSync(address, "utf8").trim()}/healthz`)).ok) break;
    } catch {
      // Not bound yet.
    }
    if (ended || tries > 400) throw new Error(`the gateway did not start: ${told}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    end: (signal) => {
      child.kill(signal);
      return exit;
    },
  };
}

/** Calls the gateway's API; a status other than `expected` fails with the body. */
export async function call(gateway, method, path, body, expected = 200) {
  const response = await fetch(gateway.url + path, {
    method,
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json", prefer: "wait=20" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  assert.equal(response.status, expected, `${method} ${path}: ${text}`);
  return JSON.parse(text);
}

/**
 * A line to the gateway that can fail: `cut` closes what is open, `freeze` leaves streams open and
 * silent (a browser that changes its network closes what is idle); both refuse what is new until `mend`.
 */
export async function line(gateway) {
  const target = new URL(gateway.url);
  const open = new Set();
  let down = false;
  const server = createServer((near) => {
    if (down) return near.destroy();
    const far = connect(Number(target.port), target.hostname);
    const pair = { near, far, streams: false };
    open.add(pair);
    near.on("data", (chunk) => { pair.streams ||= chunk.includes("/stream "); });
    near.pipe(far);
    far.pipe(near);
    for (const socket of [near, far]) socket.on("error", () => {});
    near.on("close", () => far.destroy());
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const fail = (keep) => {
    down = true;
    for (const pair of open) {
      pair.near.unpipe();
      pair.far.destroy();
      if (!keep || !pair.streams) pair.near.destroy();
    }
    open.clear();
  };
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    cut: () => fail(false),
    freeze: () => fail(true),
    mend: () => { down = false; },
    close: () => server.close(),
  };
}

export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}

/** The three ways a page is looked at. */
export const LOOKS = [
  ["light", { colorScheme: "light", viewport: { width: 1280, height: 800 } }],
  ["dark", { colorScheme: "dark", viewport: { width: 1280, height: 800 } }],
  ["a phone", { colorScheme: "dark", viewport: { width: 320, height: 640 }, reducedMotion: "reduce" }],
];

/** Nothing serious for a person with a screen reader, a keyboard or weak eyes; nothing cut off. */
export async function accessible(page) {
  // The page's policy admits no foreign script; the driver's own context is not bound by it.
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run());
  const serious = found.violations.filter((v) => ["serious", "critical"].includes(v.impact));
  assert.deepEqual(serious.map((v) => `${v.id}: ${v.nodes[0].html}`), []);
  const sideways = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
  assert.equal(sideways, false, "no sideways scrolling");
}
