import assert from "node:assert/strict";
import { test } from "node:test";
import type { StreamEvent } from "../chat/src/sse.ts";
import { advance, EMPTY, type Saying, type Transcript } from "../chat/src/transcript.ts";

const AT = "2026-11-30T18:00:00.000Z";

function message(id: string, more: object = {}): StreamEvent {
  const frame = { id, dir: "out", at: AT, text: `text ${id}`, ...more };
  return { name: "chat.message", text: JSON.stringify(frame), id };
}

const RESET: StreamEvent = { name: "chat.reset", text: "{}", id: null };
const DONE: StreamEvent = { name: "chat.backlog_done", text: "{}", id: null };

function stream(state: Transcript, ...events: StreamEvent[]): Transcript {
  return advance(state, { kind: "stream", events });
}

function ids(state: Transcript): (string | null)[] {
  return state.entries.map((e) => e.id);
}

function saying(id: string): Saying {
  return { id, body: { text: "hi" }, text: "hi", at: AT, state: "sending", reason: "" };
}

test("wb_12: a resumed stream gives no gap and no double, wherever it was cut", () => {
  const all = Array.from({ length: 12 }, (_, n) => message(`17900000000${n < 6 ? "00" : "01"}-${n}`));
  for (let cut = 0; cut <= all.length; cut += 1) {
    for (let back = 0; back <= cut; back += 1) {
      const first = stream(EMPTY, ...all.slice(0, cut));
      const whole = stream(first, ...all.slice(back), DONE);
      assert.deepEqual(ids(whole), all.map((e) => e.id));
      assert.equal(whole.cursor, all.at(-1)!.id);
    }
  }
});

test("frames stand in the order of their ids, numbers and not letters", () => {
  const state = stream(EMPTY, message("10-2"), message("9-0"), message("10-10"), message("10-1"));
  assert.deepEqual(ids(state), ["9-0", "10-1", "10-2", "10-10"]);
});

test("a reset keeps the old transcript in sight until the new one is whole", () => {
  const before = stream(EMPTY, message("1-0"), message("2-0"), DONE);
  const half = stream(before, RESET, message("2-0"));
  assert.deepEqual(ids(half), ["1-0", "2-0"]);
  assert.equal(half.cursor, "2-0");
  // The line breaks in the middle: it goes on after the cursor.
  const after = stream(half, message("3-0"), DONE);
  assert.deepEqual(ids(after), ["2-0", "3-0"]);
  // A reset with nothing behind it asks for everything again.
  assert.equal(stream(before, RESET).cursor, null);
});

test("an id moves the cursor only with a frame", () => {
  const state = stream(EMPTY, message("5-0"), { name: "chat.later", text: "{}", id: "6-0" }, DONE);
  assert.equal(state.cursor, "5-0");
});

test("the frame of a saying takes its place, before or after the answer", () => {
  const said = message("7-0", { dir: "in", client_message_id: "c-00000001" });
  const asked = advance(EMPTY, { kind: "say", saying: saying("c-00000001") });
  const outcome = { kind: "outcome", id: "c-00000001", state: "sent", reason: "" } as const;
  const failed = { ...outcome, state: "failed" } as const;
  const ends = [
    stream(advance(asked, outcome), said),
    advance(stream(asked, said), outcome),
    // The answer was lost: the frame says that it had arrived.
    stream(advance(asked, failed), said),
    advance(stream(asked, said), failed),
  ];
  for (const end of ends) {
    assert.deepEqual(end.sayings, []);
    assert.deepEqual(end.entries.map((e) => e.key), ["said:c-00000001"]);
  }
});

test("a failed saying is tried again under the same id", () => {
  let state = advance(EMPTY, { kind: "say", saying: saying("c-00000001") });
  state = advance(state, { kind: "say", saying: saying("c-00000002") });
  state = advance(state, { kind: "outcome", id: "c-00000001", state: "failed", reason: "why" });
  assert.deepEqual(state.sayings.map((s) => [s.id, s.state]), [["c-00000001", "failed"], ["c-00000002", "sending"]]);
  state = advance(state, { kind: "retry", id: "c-00000001" });
  assert.deepEqual(state.sayings.map((s) => s.state), ["sending", "sending"]);
  assert.equal(state.sayings[0]!.reason, "");
});

test("a frame without a required key is an entry that says so, once", () => {
  const broken = ["id", "dir", "at"].map((key, n) => message(`${n + 1}-0`, { [key]: undefined }));
  const worse = [
    { name: "chat.message", text: "{", id: "4-0" },
    { name: "chat.message", text: "null", id: "5-0" },
    message("6-0", { text: "  " }),
    message("7-0", { at: "yesterday" }),
    message("8-0", { dir: "up" }),
  ];
  const state = stream(EMPTY, ...broken, ...worse, ...broken, ...worse);
  assert.equal(state.entries.length, 8);
  assert.ok(state.entries.every((e) => e.frame === null));
  assert.equal(state.cursor, "8-0");
  const nameless = stream(EMPTY, { name: "chat.message", text: "{}", id: null });
  assert.equal(nameless.entries.length, 1);
});

test("an ended session is noticed", () => {
  assert.equal(stream(EMPTY, { name: "chat.closed", text: "{}", id: null }).closed, true);
});
