import assert from "node:assert/strict";
import { test } from "node:test";
import { afterEnd, afterFailure, retryAfter } from "../chat/src/backoff.ts";
import { Connection, type LinkState } from "../chat/src/connection.ts";

const BODY = "retry: 1000\n\nid: 1-0\nevent: chat.message\ndata: {}\n\nevent: chat.backlog_done\ndata: {}\n\n";

function stream(text: string): Response {
  return new Response(text, { status: 200, headers: { "content-type": "text/event-stream; charset=utf-8" } });
}

/** Runs a connection against scripted answers; it ends when they stop it. */
async function walk(answers: (() => Response)[]) {
  const waits: number[] = [];
  const states: LinkState[] = [];
  const asked: (string | null)[] = [];
  let cursor: string | null = null;
  const connection = new Connection("/chat/web/stream", {
    fetch: async (_, init) => {
      asked.push(new Headers(init.headers).get("last-event-id"));
      const next = answers.shift();
      assert.ok(next, "an unexpected try");
      return next();
    },
    random: () => 1,
    // Pauses are noted and over at once; the watches on a silent line (10 s, 45 s) never fire.
    after: (ms, call) => {
      if (ms !== 45_000 && ms !== 10_000) {
        waits.push(ms);
        queueMicrotask(call);
      }
      return () => {};
    },
  }, {
    events: (events) => {
      for (const event of events) if (event.id !== null) cursor = event.id;
      return events.some((e) => e.name === "chat.closed");
    },
    state: (state) => states.push(state),
    cursor: () => cursor,
  });
  await connection.run();
  assert.equal(answers.length, 0, "every answer was asked for");
  return { waits, states, asked };
}

const gone = () => new Response("", { status: 404 });
const broken = (): Response => {
  throw new TypeError("no network");
};

test("a stream that ends is resumed after its last frame, when the server asked for it", async () => {
  const { waits, states, asked } = await walk([() => stream(BODY), gone]);
  assert.deepEqual(asked, [null, "1-0"]);
  assert.deepEqual(waits, [1000]);
  assert.deepEqual(states.map((s) => s.kind), ["connecting", "live", "waiting", "connecting", "stopped"]);
});

test("401, 404 and other refusals stop, for good", async () => {
  for (const [status, why] of [[401, "session"], [404, "gone"], [403, "refused"], [400, "refused"]] as const) {
    const { states } = await walk([() => new Response("", { status })]);
    assert.deepEqual(states.at(-1), { kind: "stopped", why });
  }
  const { states } = await walk([() => stream(`${BODY}event: chat.closed\ndata: {}\n\n`)]);
  assert.deepEqual(states.at(-1), { kind: "stopped", why: "session" });
});

test("failures wait 1 s, doubled, at most 30 s; a proven stream starts anew", async () => {
  const page = () => new Response("<html>", { status: 200, headers: { "content-type": "text/html" } });
  const failing = () => new Response("", { status: 503 });
  const { waits } = await walk([broken, failing, page, broken, broken, broken, failing, () => stream(BODY), broken, gone]);
  assert.deepEqual(waits, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 1000, 1000]);
});

test("a stream that ends before its backlog is whole climbs the same ladder", async () => {
  const cut = () => stream("retry: 1000\n\nid: 1-0\nevent: chat.message\ndata: {}\n\n");
  const { waits } = await walk([cut, cut, cut, gone]);
  assert.deepEqual(waits, [1000, 2000, 4000]);
});

test("too many streams: the server's wait is kept and the reason told", async () => {
  const crowded = () => Response.json({ code: "too_many_streams" }, { status: 429, headers: { "retry-after": "7" } });
  const { waits, states } = await walk([crowded, gone]);
  assert.deepEqual(waits, [7000]);
  assert.deepEqual(states[1], { kind: "waiting", crowded: true });
});

test("a line that says nothing is given up, and renewed at once when the network is back", async () => {
  const watches: (() => void)[] = [];
  const waits: number[] = [];
  let tries = 0;
  const connection = new Connection("/", {
    // Answers nothing until it is aborted; the third try finds no chat.
    fetch: (_, init) => {
      tries += 1;
      if (tries === 3) return Promise.resolve(gone());
      return new Promise((_resolve, reject) => init.signal!.addEventListener("abort", () => reject(new Error("aborted"))));
    },
    random: () => 1,
    after: (ms, call) => {
      if (ms === 10_000) watches.push(call);
      else if (ms < 10_000) {
        waits.push(ms);
        queueMicrotask(call);
      }
      return () => {};
    },
  }, { events: () => false, state: () => {}, cursor: () => null });
  const run = connection.run();
  watches[0]!();
  while (tries < 2) await new Promise((resolve) => setImmediate(resolve));
  connection.renew();
  await run;
  assert.deepEqual([tries, waits], [3, [1000]]);
});

test("waits are spread over their upper half", () => {
  assert.deepEqual([0, 0.5, 1].map((r) => afterFailure(3, r)), [2000, 3000, 4000]);
  assert.deepEqual([afterEnd(3000, 0), afterEnd(999_999, 1)], [1500, 30_000]);
  assert.deepEqual([retryAfter("5"), retryAfter(null), retryAfter("Mon, 1 Jan")], [5000, null, null]);
});
