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
