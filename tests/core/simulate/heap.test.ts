import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { MinHeap } from "../../../core/simulate/heap.ts";

test("values come by key, equal keys in the order they were pushed", () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(5), { nil: undefined })), (steps) => {
      const heap = new MinHeap<number>();
      let plain: { key: number; value: number }[] = [];
      for (const [value, key] of steps.entries()) {
        if (key !== undefined) {
          heap.push(key, value);
          plain.push({ key, value });
          plain = plain.sort((a, b) => a.key - b.key || a.value - b.value);
        } else assert.equal(heap.pop(), plain.shift()?.value);
        assert.equal(heap.size, plain.length);
        assert.equal(heap.minKey, plain[0]?.key ?? Number.POSITIVE_INFINITY);
      }
    }),
  );
});
