import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LearnedPauses } from "../../../../../plugins/features/sessions/gate/learned-pauses.ts";

describe("pauses by the kind of the turn before", () => {
  for (const reason of ["tool_calls", "tool_use", "function_call"]) {
    it(`tells those after ${reason} from others`, () => {
      const pauses = new LearnedPauses();
      for (let time = 0; time < 500; time++) {
        pauses.returned(reason, 2_000);
        pauses.returned("stop", 200_000);
      }
      assert.ok(pauses.rate(reason, 0) > 20 * pauses.rate("stop", 0));
      assert.equal(pauses.rate("", 0), pauses.rate("stop", 0));
    });
  }

  it("has a kind that was never seen fare as all do", () => {
    const pauses = new LearnedPauses();
    for (let time = 0; time < 500; time++) pauses.returned("stop", 5_000);
    assert.ok(Math.abs(pauses.rate("tool_calls", 0) / pauses.rate("stop", 0) - 1) < 0.05);
  });

  it("counts places that were given away by kind", () => {
    const pauses = new LearnedPauses();
    for (let time = 0; time < 500; time++) {
      pauses.lost("stop", 1_000);
      pauses.returned("tool_calls", 1_000);
    }
    assert.ok(pauses.rate("stop", 0) < 0.05 * pauses.rate("tool_calls", 0));
  });
});
