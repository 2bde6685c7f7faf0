// Reads `text/event-stream` piece by piece. `EventSource` would hide a 401 from a 503 and reconnect
// on its own terms, so the page reads the bytes itself.

/** One event: its name, its data, and the id of its own block (null: it had none). */
export type StreamEvent = { name: string; text: string; id: string | null };

/** What one piece of the stream held. */
export type Piece = { events: StreamEvent[]; retry: number | null };

/** A parser that is fed text in any cut and gives the events that are complete. */
export class StreamParser {
  #line = "";
  #afterReturn = false;
  #first = true;
  #name = "";
  #lines: string[] = [];
  #id: string | null = null;
  #open = false;

  /** Takes the next piece of decoded text. */
  push(text: string): Piece {
    const piece: Piece = { events: [], retry: null };
    let rest = text;
    if (this.#first && rest !== "") {
      this.#first = false;
      if (rest.charCodeAt(0) === 0xfeff) rest = rest.slice(1);
    }
    let from = 0;
    for (let at = 0; at < rest.length; at += 1) {
      const c = rest.charCodeAt(at);
      // A CRLF may be cut between its halves.
      if (c === 10 && this.#afterReturn) {
        this.#afterReturn = false;
        from = at + 1;
        continue;
      }
      this.#afterReturn = c === 13;
      if (c === 10 || c === 13) {
        this.#take(this.#line + rest.slice(from, at), piece);
        this.#line = "";
        from = at + 1;
      }
    }
    this.#line += rest.slice(from);
    return piece;
  }

  #take(line: string, piece: Piece): void {
    if (line === "") {
      if (this.#open) {
        piece.events.push({ name: this.#name || "message", text: this.#lines.join("\n"), id: this.#id });
      }
      this.#name = "";
      this.#lines = [];
      this.#id = null;
      this.#open = false;
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    switch (field) {
      case "event":
        this.#name = value;
        this.#open = true;
        break;
      case "data":
        this.#lines.push(value);
        this.#open = true;
        break;
      case "id":
        if (!value.includes("\0")) this.#id = value;
        break;
      case "retry":
        if (/^\d{1,9}$/.test(value)) piece.retry = Number(value);
        break;
    }
  }
}
