import type { Clock } from "./clock.ts";

/** What comes so late shows that the process was suspended, or had no processor. */
const STANDSTILL_MS = 1_500;
/** A wait has so many steps; of a standstill one of them is counted, at most. */
const STEPS = 8;
const LEAST_STEP_MS = 10;
/** A timer that is later has waited for something. */
const LATE_MS = 50;

/** How long the process stood still, where what takes `wantedMs` at most, or comes every `wantedMs`, was over after `tookMs`. */
export function lostMs(tookMs: number, wantedMs: number): number {
  return tookMs > Math.max(STANDSTILL_MS, wantedMs) ? tookMs - wantedMs : 0;
}

/**
 * Calls `run` once after `ms` in which the process ran; the returned function cancels it. For whoever waits for somebody else, in place of
 * `clock.after`: what others have sent while the process stood still is read before they are taken for silent.
 *
 * @example
 * const cancel = afterAwake(host.clock, 5_000, () => host.log.warn("The price list does not come"));
 */
export function afterAwake(clock: Clock, ms: number, run: () => void): () => void {
  const stepMs = Math.max(LEAST_STEP_MS, ms / STEPS);
  let leftMs = ms;
  let dueAtMs = 0;
  let isExtended = false;
  let cancel: () => void;
  const next = () => {
    const waitMs = Math.min(leftMs, stepMs);
    leftMs -= waitMs;
    dueAtMs = clock.now() + waitMs;
    cancel = clock.after(waitMs, step);
  };
  const step = () => {
    // Once more, because what has come in a standstill is read in the next turns, and answered in them.
    if (leftMs <= 0 && !isExtended && clock.now() - dueAtMs > LATE_MS) {
      isExtended = true;
      leftMs = stepMs;
    }
    if (leftMs > 0) next();
    else run();
  };
  next();
  return () => cancel();
}
