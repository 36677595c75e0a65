import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { GuardState } from "../../../../core/contract/rollout.ts";
import { guardNotes } from "../../../../core/features/rollouts/rollout-status.ts";
import { GUARD } from "../../../support/rollout-samples.ts";
import { makeMapping } from "../../../support/view.ts";

const notesWith = (state: GuardState["state"], rule = "food/0") =>
  guardNotes(rule, [makeMapping("food/0", { v1: 90, v2: 10 })], {
    figuresOf: () => undefined,
    guardOf: (_, target) => (target === "v2" ? { ...GUARD, state } : undefined),
  });

describe("what an explanation says of guards", () => {
  const rows: readonly (readonly [name: string, notes: readonly string[], expected: readonly string[]])[] = [
    ["a stopped target", notesWith("stopped"), ["A guard of the rule food/0 has stopped v2: v2 fails."]],
    ["one that may not be stopped", notesWith("blocked"), ["A guard of the rule food/0 would stop v2, but may not: v2 fails."]],
    ["nothing while it watches", notesWith("watching"), []],
    ["nothing of other rules", notesWith("stopped", "other/0"), []],
    ["nothing without a rule", notesWith("stopped", ""), []],
  ];
  for (const [name, notes, expected] of rows) it(name, () => assert.deepEqual(notes, expected));
});
