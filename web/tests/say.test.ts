import assert from "node:assert/strict";
import { test } from "node:test";
import { measure, Outbox, post, refused, sayingId } from "../chat/src/say.ts";
import type { Saying } from "../chat/src/transcript.ts";

const SAYING: Saying = { id: "c-00000001", body: { reply_id: "o:1:0" }, text: "Yes", at: "", state: "sending", reason: "" };

test("the door gets one of text and reply_id, and the id of the saying", async () => {
  let body = "";
  const outcome = await post("/chat/web/messages?a=b", SAYING, async (_, init) => {
    body = String(init.body);
    return Response.json({ id: "msg_1" }, { status: 202 });
  });
  assert.equal(outcome.state, "sent");
  assert.deepEqual(JSON.parse(body), { reply_id: "o:1:0", client_message_id: "c-00000001" });
});

test("what may pass is tried again, what will not is told", async () => {
  const state = (status: number, code: string | null = null) => refused(status, code).state;
  assert.deepEqual([500, 502, 503, 429, 408].map((s) => state(s)), Array(5).fill("failed"));
  assert.deepEqual([400, 401, 403, 404, 409, 413, 415].map((s) => state(s)), Array(7).fill("refused"));
  assert.match(refused(404, "unknown_reply").reason, /no longer available/);
  const lost = await post("/", SAYING, async () => { throw new TypeError("no network"); });
  assert.equal(lost.state, "failed");
});

test("ids are of the form the door takes, characters are counted as it counts", () => {
  assert.match(sayingId(new Uint8Array(11).fill(255)), /^[A-Za-z0-9_-]{8,64}$/);
  assert.equal(measure("é💬a"), 3);
});

test("two quick sayings never change places", async () => {
  const outbox = new Outbox();
  const order: number[] = [];
  const slow = (n: number, ms: number) => async () => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    order.push(n);
    if (n === 1) throw new Error("the first fails");
  };
  await new Promise<void>((resolve) => {
    outbox.add(slow(1, 20));
    outbox.add(slow(2, 0));
    outbox.add(async () => resolve());
  });
  assert.deepEqual(order, [1, 2]);
});
