import { setImmediate } from "node:timers";

/** Deno runs all immediates, those that they add included, before it looks at its sockets again. */
const hasFairImmediates = !("deno" in process.versions);

/** A turn that took longer had something to do, or the process had to wait for a processor. */
export const IDLE_TURN_MS: number = hasFairImmediates ? 0.1 : 2;

/** Calls `run` in a later turn of the event loop, after what sockets have brought. */
export function nextTurn(run: () => void): void {
  if (hasFairImmediates) setImmediate(run);
  else setTimeout(run, 0);
}

/**
 * The same for what is called in a read: others' reads come first. Deno 2.9 counts a timer from the beginning of its turn, so behind a read
 * of some milliseconds it is due at once; and as long as something is due, Deno looks at its sockets in each 61st turn only. A timer that
 * is set in a timer's call is counted from now.
 */
export function afterOthersReads(run: () => void): void {
  if (hasFairImmediates) setImmediate(run);
  else setTimeout(() => setTimeout(run, 0), 0);
}
