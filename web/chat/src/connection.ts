// Holds the stream open: reads it, resumes it after the last frame seen, waits between tries, and
// stops where trying again can change nothing.
import { afterEnd, afterFailure, retryAfter } from "./backoff.ts";
import { StreamParser, type StreamEvent } from "./sse.ts";

export type LinkState =
  | { kind: "connecting" }
  | { kind: "live" }
  | { kind: "waiting"; crowded: boolean }
  | { kind: "stopped"; why: "session" | "gone" | "refused" };

/** What the connection needs of the world. */
export type World = {
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  random: () => number;
  /** Calls back after `ms`; gives what calls it off. */
  after: (ms: number, call: () => void) => () => void;
};

export type Listener = {
  /** Gets the events of one piece and tells whether the server ended the chat with them. */
  events: (events: StreamEvent[]) => boolean;
  state: (state: LinkState) => void;
  cursor: () => string | null;
};

// One keepalive at its slowest setting (30 s) and half of another: a silent line is a dead one.
const SILENCE = 45_000;
// The first line of a stream is written at once.
const OPENING = 10_000;
const RETRY = 3000;

type End = { kind: "ended"; retry: number } | { kind: "failed"; wait: number | null; crowded: boolean } | { kind: "stopped" };

export class Connection {
  #url: string;
  #world: World;
  #on: Listener;
  #failures = 0;
  #wake: (() => void) | null = null;
  #abort: AbortController | null = null;
  #running = false;
  #eager = false;

  constructor(url: string, world: World, on: Listener) {
    this.#url = url;
    this.#world = world;
    this.#on = on;
  }

  /** Opens the stream and keeps it open until it is stopped for good. */
  async run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    for (;;) {
      this.#on.state({ kind: "connecting" });
      const end = await this.#once();
      if (end.kind === "stopped") break;
      if (this.#eager) {
        this.#eager = false;
        continue;
      }
      let wait: number;
      if (end.kind === "ended") {
        wait = afterEnd(end.retry, this.#world.random());
      } else {
        this.#failures += 1;
        wait = Math.max(end.wait ?? 0, afterFailure(this.#failures, this.#world.random()));
      }
      this.#on.state({ kind: "waiting", crowded: end.kind === "failed" && end.crowded });
      await this.#pause(wait);
    }
    this.#running = false;
  }

  /** Tries now: the network is back, or the page is looked at again. */
  hurry(): void {
    this.#failures = 0;
    this.#wake?.();
  }

  /** Drops a stream that may be dead without saying so; it is resumed at once. */
  renew(): void {
    this.hurry();
    if (this.#abort === null) return;
    this.#eager = true;
    this.#abort.abort();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const off = this.#world.after(ms, () => this.#wake?.());
      this.#wake = () => {
        off();
        this.#wake = null;
        resolve();
      };
    });
  }

  async #once(): Promise<End> {
    const abort = new AbortController();
    this.#abort = abort;
    const watch = { off: this.#world.after(OPENING, () => abort.abort()) };
    const heard = (): void => {
      watch.off();
      watch.off = this.#world.after(SILENCE, () => abort.abort());
    };
    try {
      const headers: Record<string, string> = { accept: "text/event-stream" };
      const cursor = this.#on.cursor();
      if (cursor !== null) headers["last-event-id"] = cursor;
      const response = await this.#world.fetch(this.#url, {
        headers,
        cache: "no-store",
        credentials: "same-origin",
        signal: abort.signal,
      });
      heard();
      const refusal = await this.#refusal(response);
      if (refusal !== null) return refusal;
      return await this.#read(response, heard);
    } catch {
      return { kind: "failed", wait: null, crowded: false };
    } finally {
      watch.off();
      // Frees the slot at the server whatever made us leave.
      abort.abort();
      this.#abort = null;
    }
  }

  async #refusal(response: Response): Promise<End | null> {
    const { status } = response;
    const type = response.headers.get("content-type") ?? "";
    if (status === 200 && type.startsWith("text/event-stream") && response.body !== null) return null;
    if (status === 401) return this.#stop("session");
    if (status === 404) return this.#stop("gone");
    const passing = status === 408 || status === 425 || status === 429;
    if (status >= 400 && status < 500 && !passing) return this.#stop("refused");
    const code = status === 429 ? await problemCode(response) : null;
    const wait = retryAfter(response.headers.get("retry-after"));
    return { kind: "failed", wait, crowded: code === "too_many_streams" };
  }

  #stop(why: "session" | "gone" | "refused"): End {
    this.#on.state({ kind: "stopped", why });
    return { kind: "stopped" };
  }

  async #read(response: Response, heard: () => void): Promise<End> {
    const reader = response.body!.getReader();
    const decoder = new TextDecoder();
    const parser = new StreamParser();
    let retry = RETRY;
    let proven = false;
    for (;;) {
      let read: ReadableStreamReadResult<Uint8Array>;
      try {
        read = await reader.read();
      } catch {
        // A line that had worked starts the ladder anew; one that never did goes on climbing it.
        return { kind: "failed", wait: null, crowded: false };
      }
      if (read.done) return proven ? { kind: "ended", retry } : { kind: "failed", wait: retry, crowded: false };
      heard();
      const piece = parser.push(decoder.decode(read.value, { stream: true }));
      if (piece.retry !== null) retry = piece.retry;
      if (piece.events.length > 0 && this.#on.events(piece.events)) return this.#stop("session");
      if (!proven && piece.events.some((e) => e.name === "chat.backlog_done")) {
        proven = true;
        this.#failures = 0;
        this.#on.state({ kind: "live" });
      }
    }
  }
}

/** The `code` of a problem document, or null. */
export async function problemCode(response: Response): Promise<string | null> {
  try {
    const problem: unknown = await response.json();
    if (typeof problem === "object" && problem !== null && "code" in problem) {
      return typeof problem.code === "string" ? problem.code : null;
    }
  } catch {
    // Not a problem document: a proxy's page, or nothing at all.
  }
  return null;
}
