import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ScoringOptions, targetScore } from "../../../plugins/scorers/target-score.ts";

const BOTH = { firstTokenMs: 1_000, tokenMs: 50 };
const OPTIONS: ScoringOptions = {
  ttftWeight: 0.8,
  tpotWeight: 0.2,
  headroomSelectionStrategy: "least",
  sloBufferFactor: 1,
};
const most: ScoringOptions = { ...OPTIONS, headroomSelectionStrategy: "most" };

/** Parts of the targets that are used (first token, further tokens), and the part of the prompt that is not cached. */
type Parts = readonly [ttft: number, tpot: number, uncached: number];
const scoreOf = ([ttft, tpot, uncached]: Parts, options = OPTIONS, targets = BOTH) =>
  targetScore(ttft, tpot, uncached, targets, options);

describe("with targets", () => {
  const better: readonly [name: string, good: Parts, bad: Parts, options?: ScoringOptions][] = [
    ["one that meets them is better than one that does not", [0.01, 0.01, 1], [1.01, 0, 0]],
    ["also where most headroom is wanted", [0.99, 0.99, 1], [1.01, 0, 0], most],
    ["least: the one with the least headroom", [0.9, 0.5, 0], [0.2, 0.5, 0]],
    ["most: the one with the most", [0.2, 0.5, 0], [0.9, 0.5, 0], most],
    ["least: of equal headroom, the one that holds the prompt", [0.5, 0.5, 0.1], [0.5, 0.5, 0.9]],
    ["where none meets them, the least violation", [1.2, 1, 1], [1.5, 1, 0]],
    ["the first token counts more", [1, 1.5, 0], [1.5, 1, 0]],
    ["a margin: no longer met", [0.7, 0.5, 0], [0.85, 0.5, 0], { ...OPTIONS, sloBufferFactor: 0.8 }],
  ];
  for (const [name, good, bad, options] of better) {
    it(name, () =>
      assert.ok(scoreOf(good, options) > scoreOf(bad, options), `${scoreOf(good, options)} ${scoreOf(bad, options)}`),
    );
  }

  it("a target that there is not has no say", () => {
    const onlyTtft = { firstTokenMs: 1_000, tokenMs: Number.POSITIVE_INFINITY };
    assert.equal(scoreOf([0.5, 0, 0], most, onlyTtft), 0.75);
    const onlyTpot = { firstTokenMs: Number.POSITIVE_INFINITY, tokenMs: 50 };
    assert.equal(scoreOf([0, 0.5, 0], most, onlyTpot), 0.75);
  });

  it("is from 0 to 1 for extreme numbers, and 1/2 or more only where the targets are met", () => {
    const extremes = [0, 1e-300, 0.5, 1, 1 + 1e-9, 1e300, Number.POSITIVE_INFINITY];
    for (const options of [OPTIONS, most, { ...OPTIONS, ttftWeight: 0, tpotWeight: 0 }, { ...most, ttftWeight: 0 }]) {
      for (const ttft of extremes) {
        for (const tpot of extremes) {
          for (const uncached of [0, 1, 1e9]) {
            const score = scoreOf([ttft, tpot, uncached], options);
            assert.ok(score >= 0 && score <= 1, `${score} for ${ttft}, ${tpot}`);
            assert.equal(score >= 0.5, ttft <= 1 && tpot <= 1, `${score} for ${ttft}, ${tpot}`);
          }
        }
      }
    }
  });
});
