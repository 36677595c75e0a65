import assert from "node:assert/strict";
import { test } from "node:test";
import { freeBytes } from "../../../core/runtime/free-memory.ts";

const MIB = 2 ** 20;

test("freed memory is given back without a collection, and its views are empty", async () => {
  const before = process.memoryUsage().rss;
  const views: Uint8Array[] = [];
  for (let round = 0; round < 64; round++) {
    const bytes = new Uint8Array(Buffer.allocUnsafeSlow(16 * MIB).buffer);
    bytes.fill(1);
    views.push(bytes.subarray(1));
    freeBytes(bytes);
    assert.equal(bytes.length, 0);
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const view of views) assert.equal(view.length, 0);
  const grown = process.memoryUsage().rss - before;
  assert.ok(grown < 256 * MIB, `${grown} of ${64 * 16 * MIB} bytes stayed`);
});
