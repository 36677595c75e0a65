import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { allocationPayoff } from "../../../../plugins/features/ejection/allocation.ts";

function choose(n: number, k: number): number {
  let ways = 1;
  for (let i = 0; i < k; i++) ways *= (n - i) / (i + 1);
  return k > n ? 0 : ways;
}

/** The mean payoff of a block of so many answers with so many empty ones, if an own one has `odds` times the odds of another's. */
function meanPayoff(own: number, others: number, empties: number, odds: number): number {
  let weights = 0;
  let sum = 0;
  for (let mine = Math.max(0, empties - others); mine <= Math.min(own, empties); mine++) {
    const weight = choose(own, mine) * choose(others, empties - mine) * odds ** mine;
    weights += weight;
    sum += weight * allocationPayoff(own, mine, others, empties - mine).payoff;
  }
  return sum / weights;
}

describe("the payoff of a block", () => {
  const blocks = [1, 2, 3, 8].flatMap((own) =>
    [1, 3, 27].flatMap((others) => Array.from({ length: own + others + 1 }, (_, empties) => [own, others, empties] as const)),
  );

  it("is 0 on average where the odds are three times the others', and below for smaller ones", () => {
    for (const [own, others, empties] of blocks) {
      assert.ok(Math.abs(meanPayoff(own, others, empties, 3)) < 1e-9, `${own} ${others} ${empties}`);
      for (const odds of [0.1, 1, 2.9]) assert.ok(meanPayoff(own, others, empties, odds) < 1e-9, `${own} ${others} ${empties}`);
    }
  });

  it("is above 0 on average for larger odds, wherever there is a choice", () => {
    for (const [own, others, empties] of blocks)
      assert.equal(
        meanPayoff(own, others, empties, 10) > 1e-9,
        empties > 0 && empties < own + others,
        `${own} ${others} ${empties}`,
      );
  });

  it("is never less than it says", () => {
    for (const [own, others, empties] of blocks)
      for (let mine = Math.max(0, empties - others); mine <= Math.min(own, empties); mine++) {
        const { payoff, lowest } = allocationPayoff(own, mine, others, empties - mine);
        assert.ok(payoff >= lowest && lowest <= 0, `${own} ${others} ${empties}`);
      }
  });

  it("says that nothing can be learned where all are empty, or none", () => {
    for (const [own, others] of blocks) {
      assert.equal(Math.abs(allocationPayoff(own, 0, others, 0).lowest), 0);
      assert.equal(Math.abs(allocationPayoff(own, own, others, others).lowest), 0);
    }
  });

  it("is a number also for very large blocks", () => {
    const { payoff, lowest } = allocationPayoff(64, 64, 10_000, 9_000);
    assert.ok(payoff > 0 && payoff < 64 && lowest < 0 && lowest > -64, `${payoff} ${lowest}`);
  });
});
