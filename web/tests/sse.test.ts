import assert from "node:assert/strict";
import { test } from "node:test";
import { StreamParser, type StreamEvent } from "../chat/src/sse.ts";

const STREAM =
  "\ufeffretry: 3000\r\n: keepalive\r\n\r\nid: 1-0\nevent: chat.message\ndata: {\"a\":\"ü\u2028💬\"}\n\n" +
  "event: chat.backlog_done\r\r" +
  "data:one\ndata: two\n\nid: 2-0\n\nid: 3\u00000\ndata: x\n\nevent: chat.message\ndata: unfinished";

const EXPECTED: StreamEvent[] = [
  { name: "chat.message", text: "{\"a\":\"ü\u2028💬\"}", id: "1-0" },
  { name: "chat.backlog_done", text: "", id: null },
  { name: "message", text: "one\ntwo", id: null },
  { name: "message", text: "x", id: null },
];

test("a stream reads the same however it is cut", () => {
  for (let size = 1; size <= STREAM.length; size += 1) {
    const parser = new StreamParser();
    const events: StreamEvent[] = [];
    let retry: number | null = null;
    for (let at = 0; at < STREAM.length; at += size) {
      const piece = parser.push(STREAM.slice(at, at + size));
      events.push(...piece.events);
      retry = piece.retry ?? retry;
    }
    assert.deepEqual(events, EXPECTED, `cut every ${size}`);
    assert.equal(retry, 3000);
  }
});

test("an id without data moves nothing, an id belongs to its own block", () => {
  const { events } = new StreamParser().push("id: 9-9\n\nevent: chat.reset\n\n");
  assert.deepEqual(events, [{ name: "chat.reset", text: "", id: null }]);
});

test("a retry that is no number is passed over", () => {
  assert.equal(new StreamParser().push("retry: soon\nretry: -1\n").retry, null);
});
