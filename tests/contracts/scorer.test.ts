import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { builtInsOf, situations } from "./pools.ts";

for (const [type, create] of builtInsOf("scorer")) {
  describe(`the scorer ${type}`, () => {
    it("gives one number in [0, 1] or null for each candidate, or null for all", () => {
      for (const { name, request, candidates, load } of situations()) {
        const scores = create().score(request, candidates, load);
        if (scores === null) continue;
        assert.equal(scores.length, candidates.length, name);
        for (const score of Array.from(scores)) assert.ok(score === null || (score >= 0 && score <= 1), `${name}: ${score}`);
      }
    });

    it("has a confidence in [0, 1]", () => {
      for (const { name, candidates, load } of situations()) {
        for (const endpoint of candidates) {
          const confidence = create().confidence?.(endpoint, load) ?? 1;
          assert.ok(confidence >= 0 && confidence <= 1, `${name}: ${confidence}`);
        }
      }
    });

    it("gives the same scores again", () => {
      const scorer = create();
      for (const { name, request, candidates, load } of situations()) {
        assert.deepEqual(scorer.score(request, candidates, load), scorer.score(request, candidates, load), name);
      }
    });
  });
}
