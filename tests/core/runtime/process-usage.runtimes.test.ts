import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { it } from "node:test";
import { processUsage } from "../../../core/runtime/process-usage.ts";

it("tells what the process uses, on every runtime", () => {
  const { cpuSeconds, residentBytes, heapUsedBytes, heapBytes, openFiles, maxOpenFiles } = processUsage();
  assert.ok(cpuSeconds > 0 && cpuSeconds < 10_000);
  assert.ok(residentBytes > 2 ** 20);
  assert.ok(heapUsedBytes > 0 && heapBytes > 0 && heapBytes < 2 ** 40);
  if (!existsSync("/proc/self/fd")) return;
  assert.ok(openFiles >= 3 && openFiles < maxOpenFiles);
});
