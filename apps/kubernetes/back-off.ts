import type { Clock } from "../../core/contract/clock.ts";
import type { Random } from "../../core/contract/profile-plugin.ts";
import { KubernetesError } from "./kubernetes-error.ts";

const FIRST_MS = 800;
/** The wait while nobody listens: a refused connect costs the server nothing, and the first one that succeeds shows that it is back. */
const UNCONNECTED_MS = 1_000;
/** A server that has begun refuses much for some seconds, until it has read its storage: so long, waits stay short. */
const SOON_MS = 2_000;
const SOON_TIMES = 20;
const MOST_MS = 5_000;
/** Between tries that nobody waits for. */
export const SELDOM_MS = 30_000;
/** The longest wait that a server can ask for. */
const LONGEST_ASKED_MS = 30_000;

/**
 * How long to wait after `thrown`, the last of so many failures in a row: twice as long after each, but never long, since the router
 * does not know meanwhile what has changed. `mostMs` is for what is not urgent.
 */
export function retryMs(failures: number, thrown: unknown, random: Random, mostMs = mostSoon(failures)): number {
  if (thrown instanceof KubernetesError) {
    const { isUnconnected, retryAfterMs } = thrown;
    if (isUnconnected) return halfAtLeast(UNCONNECTED_MS, random);
    // Never sooner than it asks for. A 0 asks for nothing, and would be a busy loop.
    if (retryAfterMs) return Math.min(LONGEST_ASKED_MS, retryAfterMs) * (1 + random() / 4);
  }
  const doubled = FIRST_MS * 2 ** Math.min(Math.max(0, failures - 1), 16);
  return halfAtLeast(Math.min(doubled, mostMs), random);
}

const mostSoon = (failures: number) => (isSoon(failures) ? SOON_MS : MOST_MS);

/** Whether a server that has just begun may still say so: after so many failures in a row. */
export function isSoon(failures: number): boolean {
  return failures <= SOON_TIMES;
}

/** Waits by chance, so that those that failed together do not come back together. */
export function halfAtLeast(longestMs: number, random: Random): number {
  return longestMs * (0.5 + random() / 2);
}

/** Ends at once when it is aborted. */
export function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal.addEventListener("abort", end);
  });
}
