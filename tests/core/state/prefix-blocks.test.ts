import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { blockEnds, wholeBlocks } from "../../../core/state/prefix-blocks.ts";

const MIB = 2 ** 20;

describe("block ends", () => {
  for (const blockBytes of [1, 16, 100, 256, 4096, 65_536]) {
    test(`grow evenly from ${blockBytes} bytes and never depend on the bound`, () => {
      const ends = [...blockEnds(blockBytes, 4 * MIB)];
      const sizes = ends.map((end, index) => end - (ends[index - 1] ?? 0));
      assert.ok(sizes[0]! >= blockBytes && sizes[0]! < blockBytes + 8);
      for (const [index, size] of sizes.entries()) {
        const previous = sizes[index - 1] ?? size;
        assert.equal(size % 8, 0);
        assert.ok(size === previous || size === 2 * previous);
        assert.ok(size <= Math.max(sizes[0]!, ends[index]! / 32), "a block is at most 1/32 of the prompt up to its end");
      }
      assert.ok(ends.at(-1)! <= 4 * MIB);
      assert.deepEqual(
        [...blockEnds(blockBytes, MIB)],
        ends.filter((end) => end <= MIB),
      );
    });
  }

  test("give long prompts few blocks", () => {
    const ends = blockEnds(256, 32 * MIB);
    const blocks = [4096, 16_384, 65_536, 512_000, 4 * MIB, 32 * MIB].map((bytes) => wholeBlocks(ends, bytes));
    assert.deepEqual(blocks, [16, 64, 128, 222, 320, 416]);
  });

  test("refuse a length below 1", () => {
    for (const blockBytes of [0, -1, Number.NaN])
      assert.throws(() => blockEnds(blockBytes, MIB), /blockBytes must be at least 1/);
  });
});

test("whole blocks end inside the prompt", () => {
  const ends = blockEnds(64, 10_000);
  for (let bytes = 0; bytes < 11_000; bytes += 7) {
    assert.equal(wholeBlocks(ends, bytes), ends.filter((end) => end <= bytes).length);
  }
});
