// The transcript as the page holds it: a pure function from what came to what is drawn.
import { compareIds, isFrameId, readFrame, type Frame } from "./frame.ts";
import type { StreamEvent } from "./sse.ts";

/** A drawn frame; `frame` is null for one that could not be read. */
export type Entry = { key: string; order: string; id: string | null; frame: Frame | null };

/** What a person said and the stream has not shown yet. */
export type Saying = {
  /** The `client_message_id`, the same at every try. */
  id: string;
  body: { text: string } | { reply_id: string };
  text: string;
  at: string;
  state: "sending" | "sent" | "failed" | "refused";
  reason: string;
};

export type Transcript = {
  entries: Entry[];
  /** After a reset: the new transcript while it comes in; the old one stays in sight until then. */
  rebuilt: Entry[] | null;
  sayings: Saying[];
  /** The `Last-Event-ID` to resume after. */
  cursor: string | null;
  /** Whether the backlog has been seen, so that what comes now is news. */
  ready: boolean;
  /** The visitor's session has ended; nothing more will come. */
  closed: boolean;
};

export type Step =
  | { kind: "stream"; events: StreamEvent[] }
  | { kind: "say"; saying: Saying }
  | { kind: "retry"; id: string }
  | { kind: "outcome"; id: string; state: "sent" | "failed" | "refused"; reason: string };

export const EMPTY: Transcript = {
  entries: [],
  rebuilt: null,
  sayings: [],
  cursor: null,
  ready: false,
  closed: false,
};

/** What the transcript is after `step`. */
export function advance(state: Transcript, step: Step): Transcript {
  switch (step.kind) {
    case "stream":
      return received(state, step.events);
    case "say":
      return { ...state, sayings: [...state.sayings, step.saying] };
    case "retry":
      return changed(state, step.id, (s) => ({ ...s, state: "sending", reason: "" }));
    case "outcome":
      // An answer that comes after its frame finds nothing to change.
      return changed(state, step.id, (s) => ({ ...s, state: step.state, reason: step.reason }));
  }
}

function changed(state: Transcript, id: string, change: (s: Saying) => Saying): Transcript {
  return { ...state, sayings: state.sayings.map((s) => (s.id === id ? change(s) : s)) };
}

function received(state: Transcript, events: StreamEvent[]): Transcript {
  const next = { ...state };
  // Copied once a batch: a backlog of a thousand frames is no thousand copies.
  next.entries = [...state.entries];
  next.rebuilt = state.rebuilt === null ? null : [...state.rebuilt];
  const shown = new Set<string>();
  for (const event of events) {
    switch (event.name) {
      case "chat.message":
      case "chat.form": {
        const entry = place(next.rebuilt ?? next.entries, event);
        if (entry?.frame?.said) shown.add(entry.frame.said);
        if (event.id !== null && isFrameId(event.id)) next.cursor = event.id;
        break;
      }
      case "chat.reset":
        next.rebuilt = [];
        next.cursor = null;
        break;
      case "chat.backlog_done":
        if (next.rebuilt !== null) next.entries = next.rebuilt;
        next.rebuilt = null;
        next.ready = true;
        break;
      case "chat.closed":
        next.closed = true;
        break;
    }
  }
  if (shown.size > 0) next.sayings = state.sayings.filter((s) => !shown.has(s.id));
  return next;
}

// Puts the event's frame where its id belongs; null when it is already there.
function place(entries: Entry[], event: StreamEvent): Entry | null {
  const frame = readFrame(event.text, event.name === "chat.form");
  const own = event.id !== null && isFrameId(event.id) ? event.id : null;
  const id = frame?.id ?? own;
  const last = entries.at(-1);
  const order = id ?? last?.order ?? "0-0";
  let at = entries.length;
  while (at > 0 && compareIds(entries[at - 1]!.order, order) > 0) at -= 1;
  for (let before = at - 1; id !== null && before >= 0; before -= 1) {
    const other = entries[before]!;
    if (other.id === id) return null;
    if (compareIds(other.order, order) < 0) break;
  }
  // The bubble of a saying and that of its frame are one to the eye, and to the focus.
  const key = frame?.said ? `said:${frame.said}` : id !== null ? id : `broken:${order}:${entries.length}`;
  const entry: Entry = { key, order, id, frame };
  entries.splice(at, 0, entry);
  return entry;
}
