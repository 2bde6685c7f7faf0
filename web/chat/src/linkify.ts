// Finds the web addresses in a text. No markup is read: everything else stays text.
import { webAddress } from "./href.ts";

/** A run of text, or an address to link with the text it was written as. */
export type Run = { text: string; href: string | null };

// An address ends at white space, quotes, angle brackets, and at invisible and direction characters,
// which could make it read as another one.
const ADDRESS =
  /https?:\/\/[^\s<>"`\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]+/giu;
const CLOSING: Record<string, string> = { ")": "(", "]": "[", "}": "{", "»": "«" };

/** Cuts `text` into runs; joined, their texts are `text` again. */
export function linkify(text: string): Run[] {
  const runs: Run[] = [];
  let from = 0;
  for (const match of text.matchAll(ADDRESS)) {
    const at = match.index;
    if (at < from || /[\p{L}\p{N}_]/u.test(text.slice(Math.max(0, at - 1), at))) continue;
    const written = trimmed(match[0]);
    const url = webAddress(written);
    if (url === null) continue;
    if (at > from) runs.push({ text: text.slice(from, at), href: null });
    runs.push({ text: written, href: url.href });
    from = at + written.length;
  }
  if (from < text.length) runs.push({ text: text.slice(from), href: null });
  return runs;
}

// The full stop behind an address is the sentence's; a bracket is the address's only if it opened there.
function trimmed(written: string): string {
  let end = written.length;
  for (;;) {
    const last = written.slice(end - 1, end);
    const opening = CLOSING[last];
    if (opening !== undefined) {
      const body = written.slice(0, end);
      if (count(body, opening) >= count(body, last)) return body;
    } else if (!/[.,;:!?'…’”]/u.test(last)) {
      return written.slice(0, end);
    }
    end -= 1;
  }
}

function count(text: string, one: string): number {
  return text.split(one).length - 1;
}

/** Text without the two characters that turn the reading direction of what follows by force. */
export function plain(text: string): string {
  return text.replace(/[\u202d\u202e]/gu, "");
}

/** The side a text reads from, by its first letter that has one, as `dir="auto"` decides it. */
export function direction(text: string): "ltr" | "rtl" {
  const letter = /\p{L}/u.exec(text)?.[0] ?? "";
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|[\u{10800}-\u{10fff}]|[\u{1e800}-\u{1efff}]/u.test(letter) ? "rtl" : "ltr";
}
