import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { MinHeap } from "../../../core/simulate/heap.ts";

/** A key to push with, or "pop". */
const step = fc.oneof({ weight: 3, arbitrary: fc.nat(5) }, fc.constant("pop" as const));

test("values come by key, equal keys in the order they were pushed", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const heap = new MinHeap<number>();
      let plain: { key: number; value: number }[] = [];
      for (const [value, what] of steps.entries()) {
        if (what === "pop") assert.equal(heap.pop(), plain.shift()?.value);
        else {
          heap.push(what, value);
          plain = [...plain, { key: what, value }].sort((a, b) => a.key - b.key || a.value - b.value);
        }
        assert.equal(heap.minKey, plain[0]?.key ?? Number.POSITIVE_INFINITY);
      }
    }),
  );
});
