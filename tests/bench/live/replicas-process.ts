/**
 * Mock replicas in a process of their own. The parent sends their options once; the responses are their ports, and for every
 * further message how late the event loop was, as the 99th percentile in milliseconds since the start.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { MockOptions } from "../../../core/mock/options.ts";
import { startMockReplica } from "../../../core/mock/replica.ts";

export interface ReplicasWanted {
  readonly count: number;
  readonly options: MockOptions;
}

const NANOS_PER_MS = 1e6;
const loop = monitorEventLoopDelay({ resolution: 5 });
process.once("disconnect", () => process.exit());
process.once("message", async ({ count, options }: ReplicasWanted) => {
  const replicas = await Promise.all(Array.from({ length: count }, () => startMockReplica(options)));
  loop.enable();
  process.on("message", () => process.send?.(loop.percentile(99) / NANOS_PER_MS));
  process.send?.(replicas.map(({ port }) => port));
});
