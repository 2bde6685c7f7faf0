// How long to wait before the stream is opened again.

const FIRST = 1000;
const LONGEST = 30_000;

/** The wait after the `failed`-th failure in a row (1 is the first): 1 s, doubled, at most 30 s. */
export function afterFailure(failed: number, random: number): number {
  const whole = Math.min(LONGEST, FIRST * 2 ** Math.min(failed - 1, 10));
  return jittered(whole, random);
}

/** The wait the server asked for by `retry:`, spread so that a restart meets no crowd. */
export function afterEnd(retry: number, random: number): number {
  return jittered(Math.min(retry, LONGEST), random);
}

/** A `Retry-After` in seconds as milliseconds; null when it is absent or a date. */
export function retryAfter(header: string | null): number | null {
  return header !== null && /^\d{1,4}$/.test(header) ? Number(header) * 1000 : null;
}

// Between half and all of it: never at once, never longer than promised.
function jittered(whole: number, random: number): number {
  return Math.round(whole * (0.5 + 0.5 * random));
}
