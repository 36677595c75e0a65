import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { GuardState } from "../../../../plugins/features/rollouts/rollout-shapes.ts";
import { guardNote, guardWarning } from "../../../../plugins/features/rollouts/rollout-status.ts";
import { GUARD } from "../../../support/rollout-samples.ts";

describe("what an explanation and the warnings say of a guard", () => {
  const rows: readonly (readonly [state: GuardState["state"], note: readonly string[], warning: readonly string[]])[] = [
    ["stopped", ["A guard of the rule food/0 has stopped v2: v2 fails."], ["A guard stopped v2: v2 fails."]],
    ["blocked", ["A guard of the rule food/0 would stop v2, but may not: v2 fails."], ["A guard would stop v2. v2 fails."]],
    ["watching", [], []],
  ];
  for (const [state, note, warning] of rows)
    it(state, () => {
      assert.deepEqual(guardNote("food/0", "v2", { ...GUARD, state }), note);
      assert.deepEqual(guardWarning("v2", { ...GUARD, state }), warning);
    });
});
