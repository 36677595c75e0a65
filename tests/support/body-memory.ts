import { MemoryBudget } from "../../core/body/memory-budget.ts";
import { BodyBuffer } from "../../core/body/receive.ts";
import { FakeClock } from "./fake-clock.ts";

/** A body of a request that nobody ends, with as much memory as it wants. */
export function makeBodyBuffer(declared: number, maxBytes: number): BodyBuffer {
  return new BodyBuffer(declared, maxBytes, new MemoryBudget(Number.POSITIVE_INFINITY, new FakeClock()), { failed() {} });
}
