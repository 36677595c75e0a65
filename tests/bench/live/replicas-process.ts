/**
 * Mock replicas in a process of their own. The parent sends their options once; the responses are their ports, and for every
 * further message how late the event loop was since the start.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { MockOptions } from "../../../apps/lab/mock/options.ts";
import { startMockReplica } from "../../../apps/lab/mock/replica.ts";

export interface ReplicasWanted {
  readonly count: number;
  readonly options: MockOptions;
}

export interface LoopDelay {
  readonly p99Ms: number;
  readonly mostMs: number;
}

const NANOS_PER_MS = 1e6;
const loop = monitorEventLoopDelay({ resolution: 5 });
process.once("disconnect", () => process.exit());
process.once("message", async ({ count, options }: ReplicasWanted) => {
  const replicas = await Promise.all(Array.from({ length: count }, () => startMockReplica(options)));
  loop.enable();
  process.on("message", () => {
    const delay: LoopDelay = { p99Ms: loop.percentile(99) / NANOS_PER_MS, mostMs: loop.max / NANOS_PER_MS };
    process.send?.(delay);
  });
  process.send?.(replicas.map(({ port }) => port));
});
