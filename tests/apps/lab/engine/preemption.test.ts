import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { EngineJob, EngineModel } from "../../../../apps/lab/engine/engine-model.ts";
import { ENGINE_TIMES } from "../../../../apps/lab/engine/engine-times.ts";
import { makePrompt } from "../simulate/traces.ts";

/** Of the cache's blocks, and of the pieces that prompts share. */
const BLOCK_TOKENS = 100;

interface Wanted {
  readonly name: string;
  readonly blocks: readonly number[];
  readonly outputTokens: number;
}

class Named extends EngineJob {
  readonly name: string;
  constructor({ name, blocks, outputTokens }: Wanted) {
    super(makePrompt(blocks), outputTokens);
    this.name = name;
  }
}

/** Runs all to their end, in steps of as many tokens as the model allows, and tells what happened. */
function run(wanted: readonly Wanted[], cacheBlocks: number, pieces: "exact" | "coarse" = "exact") {
  const told: string[] = [];
  const model = new EngineModel<Named>(
    { ...ENGINE_TIMES, kvTokens: cacheBlocks * BLOCK_TOKENS, blockTokens: BLOCK_TOKENS },
    pieces,
    {
      admitted: ({ name }) => told.push(`${name} admitted`),
      prefilled: ({ name }) => told.push(`${name} first`),
      finished: ({ name, generated }) => told.push(`${name} ${generated}`),
    },
  );
  const jobs = wanted.map((each) => new Named(each));
  model.waiting.push(...jobs);
  let computed = 0;
  let steps = 0;
  for (; model.begin() !== undefined; steps++) {
    assert.ok(steps < 100_000, "It goes on for ever");
    computed += model.stepTokens;
    model.end(model.equalSteps);
  }
  return { told, model, jobs, computed };
}

describe("an engine whose cache is full of running requests", () => {
  const two: readonly Wanted[] = [
    { name: "a", blocks: [1, 2], outputTokens: 250 },
    { name: "b", blocks: [3, 4], outputTokens: 250 },
  ];

  it("admits prompts that fit, and takes the blocks of the last one when outputs do not", () => {
    const { told, model, computed } = run(two, 7);
    assert.deepEqual(told, ["a admitted", "b admitted", "a first", "b first", "a 250", "b 250"]);
    assert.deepEqual([model.preemptions, model.cache.freeBlocks], [1, 7]);
    // Of b, what was evicted of its prompt, and its output up to then, is computed again.
    assert.ok(computed > 400 && computed <= 400 + 200 + 250, String(computed));
  });

  it("takes nobody's blocks where all fit", () => {
    assert.equal(run(two, 10).model.preemptions, 0);
  });

  it("reports what was cached when a request came, not what it found again", () => {
    const { jobs } = run(two, 7);
    assert.deepEqual(
      jobs.map(({ cachedTokens, admissions }) => [cachedTokens, admissions]),
      [
        [0, 1],
        [0, 2],
      ],
    );
  });

  it("gives up a request that waits for its second turn", () => {
    const model = new EngineModel<Named>({ ...ENGINE_TIMES, kvTokens: 700, blockTokens: BLOCK_TOKENS }, "exact", {
      admitted() {},
      prefilled() {},
      finished() {},
    });
    const [first, second] = two.map((each) => new Named(each));
    model.waiting.push(first!, second!);
    while (model.preemptions === 0 && model.begin() !== undefined) model.end(model.equalSteps);
    assert.deepEqual(model.waiting, [second]);
    assert.equal(model.remove(second!), true);
    while (model.begin() !== undefined) model.end(model.equalSteps);
    assert.deepEqual([first!.generated, model.cache.freeBlocks], [250, 7]);
  });

  it("ends each request once, with all its tokens, and keeps no block", () => {
    const wanted = fc
      .array(
        fc.record({
          family: fc.integer({ min: 0, max: 2 }),
          blocks: fc.integer({ min: 1, max: 4 }),
          outputTokens: fc.integer({ min: 0, max: 400 }),
        }),
        { minLength: 1, maxLength: 10 },
      )
      .map((rows) =>
        rows.map(
          ({ family, blocks, outputTokens }, at): Wanted => ({
            name: String(at),
            blocks: Array.from({ length: blocks }, (_, block) => 10 * family + block),
            outputTokens,
          }),
        ),
      );
    fc.assert(
      fc.property(wanted, fc.integer({ min: 8, max: 20 }), fc.constantFrom("exact", "coarse"), (all, blocks, pieces) => {
        const { told, model } = run(all, blocks, pieces);
        const expected = all.flatMap(({ name, outputTokens }) => [
          `${name} admitted`,
          `${name} first`,
          `${name} ${outputTokens}`,
        ]);
        assert.deepEqual([...told].sort(), expected.sort());
        assert.equal(model.cache.freeBlocks, blocks);
      }),
      { numRuns: 200 },
    );
  });
});
