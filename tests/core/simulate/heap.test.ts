import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { MinHeap } from "../../../core/simulate/heap.ts";

/** A key to push with; the value to remove; or nothing, to pop. */
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ key: fc.nat(5) }) },
  fc.record({ remove: fc.nat(30) }),
  fc.constant({ pop: true }),
);

test("values come by key, equal keys in the order they were pushed, without those that were removed", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const heap = new MinHeap<number>();
      let plain: { key: number; value: number }[] = [];
      for (const [value, what] of steps.entries()) {
        if ("key" in what) {
          heap.push(what.key, value);
          plain.push({ key: what.key, value });
          plain = plain.sort((a, b) => a.key - b.key || a.value - b.value);
        } else if ("remove" in what) {
          const left = plain.filter((each) => each.value !== what.remove);
          assert.equal(heap.remove(what.remove), left.length < plain.length);
          plain = left;
        } else assert.equal(heap.pop(), plain.shift()?.value);
        assert.equal(heap.size, plain.length);
        assert.equal(heap.minKey, plain[0]?.key ?? Number.POSITIVE_INFINITY);
      }
    }),
  );
});
