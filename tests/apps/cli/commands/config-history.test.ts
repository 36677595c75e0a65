import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { generationBefore } from "../../../../apps/cli/commands/config-history.ts";

/** Generations, newest first: a number, or the earlier one that it is made of too. */
const made = (...list: readonly (number | readonly [number, number])[]) =>
  list.map((each) => {
    const [generation, restored] = typeof each === "number" ? [each, null] : each;
    return { generation, restored, time: "", cause: "files" as const, by: "", changes: [] };
  });

const historyOf = (generations: ReturnType<typeof made>) => ({
  generations,
  generation: generations[0]!.generation,
  restored: null,
});

const CASES = [
  { name: "the one before", generations: made(3, 2, 1), before: 2 },
  { name: "after a rollback, one further back", generations: made([4, 2], 3, 2, 1), before: 1 },
  { name: "after a change that followed a rollback, the rollback", generations: made(5, [4, 2], 3, 2, 1), before: 4 },
  { name: "after a rollback to a rollback, one further back", generations: made([6, 4], 5, [4, 2], 3, 2, 1), before: 1 },
  { name: "what is kept, where the origin is forgotten", generations: made([9, 5], 8, 7, 4), before: 4 },
];

describe("the generation that a rollback without a number brings back", () => {
  for (const { name, generations, before } of CASES)
    it(`is ${name}`, () => assert.equal(generationBefore(historyOf(generations)), before));

  it("does not exist where none is kept: that is said", () => {
    for (const generations of [made(1), made([3, 1], 2, 1)])
      assert.throws(() => generationBefore(historyOf(generations)), /No earlier config is kept/);
  });
});
