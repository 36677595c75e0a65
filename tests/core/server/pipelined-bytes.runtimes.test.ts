import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { PipelinedBytes } from "../../../core/server/pipelined-bytes.ts";

const BOUND = 1_000;

describe("pipelined bytes", () => {
  it("come out as they came in, however much of them is used up at a time", () => {
    const steps = fc.array(fc.record({ add: fc.nat(300), use: fc.nat(300), isTrimmed: fc.boolean() }), { maxLength: 200 });
    fc.assert(
      fc.property(steps, (all) => {
        const pipelined = new PipelinedBytes(BOUND);
        let kept: number[] = [];
        let next = 0;
        for (const { add, use, isTrimmed } of all) {
          const chunk = Buffer.from(Array.from({ length: Math.min(add, BOUND - kept.length) }, () => next++ % 251));
          kept = [...kept, ...chunk];
          pipelined.add(chunk);
          // The memory of a read is used again.
          chunk.fill(0xff);
          assert.equal(pipelined.length, kept.length);
          const taken = pipelined.take() ?? Buffer.alloc(0);
          assert.equal(pipelined.length, 0);
          assert.deepEqual([...taken], kept);
          const rest = taken.subarray(Math.min(use, taken.length));
          kept = [...rest];
          if (rest.length > 0) pipelined.add(rest);
          if (isTrimmed) pipelined.trim();
        }
        assert.equal(pipelined.isClosed, false);
      }),
    );
  });

  it("beyond the bound are thrown away, with all that came before, and counted", () => {
    const pipelined = new PipelinedBytes(BOUND);
    pipelined.add(Buffer.alloc(BOUND));
    assert.equal(pipelined.isClosed, false);
    pipelined.add(Buffer.alloc(1));
    assert.equal(pipelined.isClosed, true);
    assert.equal(pipelined.length, 0);
    pipelined.add(Buffer.alloc(10));
    assert.equal(pipelined.length, 0);
    assert.equal(pipelined.thrownAwayBytes, 11);
  });
});
