import { systemClock } from "../contract/clock.ts";

/** Resolves after `ms`, or as soon as `signal` is aborted; leaves nothing behind that would keep the process. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const cancel = systemClock.after(ms, done);
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}
