import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { drawShare, targetAt } from "../../../plugins/rewriters/share-draw.ts";

/** How often each target is drawn in draws [start, start + length). */
function countDraws(weights: readonly number[], start: number, length: number): readonly number[] {
  const counts = weights.map(() => 0);
  for (let n = start; n < start + length; n++) counts[drawShare(weights, n)]! += 1;
  return counts;
}

describe("any weights", () => {
  const weightsOf = (max: number) =>
    fc.array(fc.nat(max), { minLength: 1, maxLength: 6 }).filter((weights) => weights.some((weight) => weight > 0));
  const seeded = { seed: 4711, numRuns: 300 };
  const sumOf = (weights: readonly number[]) => weights.reduce((sum, weight) => sum + weight, 0);

  it("are exact over as many draws in a row as they sum to", () => {
    const exact = fc.property(weightsOf(40), fc.nat(1_000_000_000), (weights, start) => {
      assert.deepEqual(countDraws(weights, start, sumOf(weights)), weights);
    });
    fc.assert(exact, seeded);
  });

  it("are exact over the shorter run that a common divisor allows", () => {
    const exact = fc.property(weightsOf(8), fc.integer({ min: 2, max: 1000 }), fc.nat(1_000_000), (weights, divisor, start) => {
      const scaled = weights.map((weight) => weight * divisor);
      assert.deepEqual(countDraws(scaled, start, sumOf(weights)), weights);
    });
    fc.assert(exact, seeded);
  });

  it("differ by at most half a draw from the share of the first target", () => {
    const close = fc.property(weightsOf(40), fc.nat(200), (weights, length) => {
      const share = weights[0]! / sumOf(weights);
      assert.ok(Math.abs(countDraws(weights, 0, length)[0]! - length * share) <= 0.5 + 1e-9);
    });
    fc.assert(close, seeded);
  });

  it("stay exact at the largest weights and late in the count", () => {
    const weights = [1_000_000, 999_999, 1];
    const start = Number.MAX_SAFE_INTEGER - 3_000_000;
    assert.deepEqual(countDraws(weights, start, 2_000_000), weights);
  });

  it("that are all 0 are refused", () => {
    assert.throws(() => drawShare([0, 0], 0), RangeError);
    assert.throws(() => targetAt([0, 0], 0.5), RangeError);
  });
});

it("a count that starts again does not begin with the rarest target", () => {
  assert.equal(drawShare([90, 10], 0), 0);
  assert.equal(drawShare([10, 90], 0), 1);
  assert.equal(drawShare([999_999, 1], 0), 0);
});

describe("targetAt", () => {
  const cases: readonly [weights: readonly number[], position: number, index: number][] = [
    [[90, 10], 0, 0],
    [[90, 10], 0.8999, 0],
    [[90, 10], 0.9, 1],
    [[0, 100], 0, 1],
    [[1, 0, 1], 0.5, 2],
    [[5, 0], 1 - 2 ** -32, 0],
    [[1_000_000, 1], 1 - 2 ** -32, 1],
  ];
  for (const [weights, position, index] of cases) {
    it(`${weights.join("/")} at ${position}`, () => assert.equal(targetAt(weights, position), index));
  }
});
