// Posts what the person said, one after the other, and reads the answer.
import { problemCode } from "./connection.ts";
import type { Saying } from "./transcript.ts";

export type Outcome = { state: "sent" | "failed" | "refused"; reason: string };
type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Longest text the door takes, in characters (Unicode scalar values). */
export const LONGEST = 8000;
const PATIENCE = 20_000;

/** A `client_message_id` from random bytes: 24 characters, never used twice. */
export function sayingId(bytes: Uint8Array): string {
  return `c-${[...bytes.slice(0, 11)].map((b) => b.toString(16).padStart(2, "0")).join("")}`;
}

/** The characters of a text as the door counts them. */
export function measure(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Posts one saying; a repeat with the same id is answered like the first. */
export async function post(url: string, saying: Saying, fetch: Fetch): Promise<Outcome> {
  let response: Response;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ ...saying.body, client_message_id: saying.id }),
      cache: "no-store",
      credentials: "same-origin",
      signal: AbortSignal.timeout(PATIENCE),
    });
  } catch {
    return { state: "failed", reason: "" };
  }
  if (response.status >= 200 && response.status < 300) return { state: "sent", reason: "" };
  return refused(response.status, await problemCode(response));
}

/** What an answer that is no success means to the person. */
export function refused(status: number, code: string | null): Outcome {
  if (status >= 500 || status === 408 || status === 425) return { state: "failed", reason: "" };
  if (status === 429) return { state: "failed", reason: "Too many messages at once: wait a moment." };
  if (status === 401) return { state: "refused", reason: "This chat has ended." };
  if (code === "unknown_reply") return { state: "refused", reason: "This choice is no longer available." };
  if (code === "too_long" || status === 413) return { state: "refused", reason: "It is too long." };
  return { state: "refused", reason: "It was not accepted." };
}

/** Sends in the order of asking: two quick sayings never change places. */
export class Outbox {
  #last: Promise<void> = Promise.resolve();

  /** Runs `task` once those before it are done. */
  add(task: () => Promise<void>): void {
    this.#last = this.#last.then(task, task);
  }
}
