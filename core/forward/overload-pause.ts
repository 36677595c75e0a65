import type { Head } from "../wire/head.ts";

/** How long a replica gets no requests after a 503 or 429 without Retry-After. */
const PAUSE_MS = 1_000;
/** The longest such pause, whatever Retry-After says. */
const LONGEST_PAUSE_MS = 60_000;

/** How long a replica that said 503 or 429 gets no requests: its Retry-After in seconds (RFC 9110 10.2.3); a date counts as none. */
export function pauseMs(head: Head | undefined): number {
  const asked = head?.get("retry-after") ?? "";
  return /^\d{1,9}$/.test(asked) ? Math.min(LONGEST_PAUSE_MS, Number(asked) * 1000) : PAUSE_MS;
}
