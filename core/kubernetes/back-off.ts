import type { Clock } from "../contract/clock.ts";
import type { Random } from "../contract/profile-plugin.ts";

const FIRST_MS = 800;
const MOST_MS = 30_000;

/** Waits twice as long after each failure, and never as long as others that failed at the same time. Ends at once when it is aborted. */
export function backOff(failures: number, clock: Pick<Clock, "after">, random: Random, signal: AbortSignal): Promise<void> {
  return pauseUpTo(Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 16)), clock, random, signal);
}

/** Waits at least half of that time. */
export function pauseUpTo(longestMs: number, clock: Pick<Clock, "after">, random: Random, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(longestMs * (0.5 + random() / 2), end);
    signal.addEventListener("abort", end);
  });
}
