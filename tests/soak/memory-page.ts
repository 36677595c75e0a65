import process from "node:process";
import { z } from "../../core/contract/options.ts";
import { defineObserver } from "../../core/contract/plugin.ts";

/** What the router's process holds right after a full garbage collection, in bytes. */
export interface Memory {
  /** Of the machine's memory. */
  readonly resident: number;
  /** Objects that are still reachable, and the buffers that belong to them. */
  readonly live: number;
}

interface Collectors {
  /** Node and Deno, with --expose-gc. */
  readonly gc?: () => void;
  readonly Bun?: { gc(isSynchronous: boolean): void };
}

/** Without a collection first, memory shows when the collector last ran rather than what is kept. */
function collectGarbage(): void {
  const { gc, Bun } = globalThis as Collectors;
  if (Bun !== undefined) Bun.gc(true);
  else if (gc !== undefined) gc();
  else throw new Error("Start this runtime with --expose-gc");
}

export default defineObserver({
  type: "memory-page",
  summary: "Shows at /memory what the process holds after a garbage collection.",
  options: z.strictObject({}),
  create: () => ({
    finished() {},
    pages: [
      {
        path: "/memory",
        contentType: "application/json",
        render() {
          collectGarbage();
          const { rss, heapUsed, external } = process.memoryUsage();
          // On Bun the heap's size has its buffers in it.
          const live = process.versions["bun"] === undefined ? heapUsed + external : heapUsed;
          return JSON.stringify({ resident: rss, live } satisfies Memory);
        },
      },
    ],
  }),
});
