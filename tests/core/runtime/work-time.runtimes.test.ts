import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { type ResourceUsage, resourceUsage, workMs } from "../../../core/runtime/work-time.ts";
import { usageOf } from "../../support/usage.ts";

describe("how long work took", () => {
  const cases: readonly [name: string, wallMs: number, to: ResourceUsage, ms: number][] = [
    ["it computed", 3, usageOf(3, 0, 0), 3],
    ["it computed, and other threads did too", 3, usageOf(9, 0, 0), 3],
    ["it waited for a processor", 50, usageOf(1, 0, 1), 1],
    ["the host of the virtual machine had no time", 50, usageOf(1, 0, 0), 1],
    ["it read a file", 50, usageOf(1, 1, 0), 50],
    ["it waited for a processor, and another thread for something else", 50, usageOf(1, 1, 1), 1],
  ];
  for (const [name, wallMs, to, ms] of cases) it(name, () => assert.equal(workMs(wallMs, usageOf(0, 0, 0), to), ms));
});

test("this runtime tells both: computing takes time of a processor, and waiting is seen as waiting", () => {
  const began = resourceUsage();
  while (workMs(Number.POSITIVE_INFINITY, began, { ...resourceUsage(), voluntaryContextSwitches: 0 }) < 20);
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const before = resourceUsage();
  for (let n = 0; n < 20; n++) Atomics.wait(cell, 0, 0, 1);
  assert.ok(resourceUsage().voluntaryContextSwitches >= before.voluntaryContextSwitches + 20);
});
