import type { Clock } from "../../core/contract/clock.ts";
import type { Histogram } from "../../core/contract/histogram.ts";

const PERIOD_MS = 100;

/**
 * Samples how late a timer is: the time for which something else kept the event loop busy. The runtimes' own measurements differ
 * (Deno's is wrong), so this is a timer of ours. Returns the function that ends it.
 */
export function watchLoop(clock: Clock, delays: Histogram): () => void {
  let dueMs = clock.now() + PERIOD_MS;
  return clock.every(PERIOD_MS, () => {
    const nowMs = clock.now();
    delays.add(Math.max(0, nowMs - dueMs) / 1000);
    dueMs = nowMs + PERIOD_MS;
  });
}
