import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EngineJob, EngineModel } from "../../../../apps/lab/engine/engine-model.ts";
import { ENGINE_TIMES } from "../../../../apps/lab/engine/engine-times.ts";
import { makePrompt } from "../simulate/traces.ts";

const BLOCK_TOKENS = 100;

function makeModel(cacheBlocks: number, pieces: "exact" | "coarse" = "coarse") {
  const told: (readonly [string, EngineJob, tokens?: number])[] = [];
  const times = { ...ENGINE_TIMES, kvTokens: cacheBlocks * BLOCK_TOKENS, blockTokens: BLOCK_TOKENS };
  const model = new EngineModel<EngineJob>(times, pieces, {
    admitted: (job) => told.push(["admitted", job]),
    transferring: (job, tokens) => told.push(["transferring", job, tokens]),
    prefilled: (job) => told.push(["first", job]),
    finished: (job) => told.push(["finished", job]),
  });
  const run = () => {
    let computed = 0;
    for (; model.begin() !== undefined; model.end(model.equalSteps)) computed += model.stepTokens;
    return computed;
  };
  const add = (blocks: readonly number[], outputTokens: number, changes: Partial<EngineJob> = {}) => {
    const job = Object.assign(new EngineJob(makePrompt(blocks), outputTokens), changes);
    model.waiting.push(job);
    return job;
  };
  const toldOf = (job: EngineJob) =>
    told.filter(([, of]) => of === job).map(([what, , tokens]) => [what, ...(tokens ? [tokens] : [])]);
  return { model, run, add, toldOf };
}

describe("an engine that keeps what it computed for another one", () => {
  it("has its blocks in use until they are released, and shares them meanwhile", () => {
    const { model, run, add, toldOf } = makeModel(10);
    const job = add([1, 2, 3], 1, { keepsBlocks: true });
    assert.equal(run(), 300);
    assert.deepEqual(toldOf(job), [["admitted"], ["first"], ["finished"]]);
    assert.deepEqual([model.keeps(job), model.cache.freeBlocks], [true, 7]);
    const other = add([1, 2, 9], 1);
    assert.equal(run(), 100);
    assert.deepEqual([other.cachedTokens, model.cache.freeBlocks], [200, 7]);
    assert.deepEqual([model.release(job), model.release(job), model.keeps(job)], [true, false, false]);
    assert.equal(model.cache.freeBlocks, 10);
  });

  it("lets a prompt wait that has no room beside them", () => {
    const { model, run, add, toldOf } = makeModel(4);
    const kept = add([1, 2, 3], 1, { keepsBlocks: true });
    run();
    const next = add([4, 5], 1);
    assert.equal(run(), 0);
    assert.deepEqual([toldOf(next), model.waiting.length], [[], 1]);
    model.release(kept);
    assert.equal(run(), 200);
  });

  it("frees at once what is given up before it is done, and forgets all when it starts anew", () => {
    const { model, run, add } = makeModel(10);
    const left = add([1, 2], 1, { keepsBlocks: true });
    model.begin();
    model.remove(left);
    assert.deepEqual([model.keeps(left), model.cache.freeBlocks], [false, 10]);
    model.end(1);
    const kept = add([3], 1, { keepsBlocks: true });
    run();
    model.clear();
    assert.deepEqual([model.keeps(kept), model.release(kept)], [false, false]);
  });
});

describe("an engine whose prompt comes from another one", () => {
  for (const pieces of ["coarse", "exact"] as const) {
    it(`has room for it, waits, computes its last token alone and can share it afterwards: ${pieces}`, () => {
      const { model, run, add, toldOf } = makeModel(10, pieces);
      add([1], 1);
      run();
      const job = add([1, 2, 3], 20, { awaitsTransfer: true });
      assert.equal(run(), 0);
      assert.deepEqual(toldOf(job), [["admitted"], ["transferring", 200]]);
      assert.deepEqual([model.cache.freeBlocks, model.cache.heldTokens(job.prompt), job.uncachedTokens], [7, 100, 1]);
      // It does not hold up others.
      const other = add([7], 1);
      assert.equal(run(), 100);
      assert.deepEqual(toldOf(other).at(-1), ["finished"]);
      model.arrived(job);
      assert.equal(run(), 1);
      assert.deepEqual(toldOf(job).slice(2), [["first"], ["finished"]]);
      // What came is not counted as cached.
      assert.deepEqual([job.cachedTokens, model.cache.heldTokens(job.prompt), model.cache.freeBlocks], [100, 300, 10]);
    });
  }

  it("does not take a prompt that has no room, and gives room back when one is given up on its way", () => {
    const { model, run, add, toldOf } = makeModel(5);
    const first = add([1, 2, 3], 1, { awaitsTransfer: true });
    const second = add([4, 5, 6], 1, { awaitsTransfer: true });
    run();
    assert.deepEqual([toldOf(first).length, toldOf(second).length], [2, 0]);
    model.remove(first);
    run();
    assert.deepEqual(toldOf(second).at(-1), ["transferring", 300]);
    // What arrives for one that has left is nobody's.
    model.arrived(first);
    assert.equal(run(), 0);
    assert.equal(model.cache.freeBlocks, 2);
  });

  it("is computed before prompts that have not begun, after those that have", () => {
    const { model, run, add } = makeModel(1_000);
    const long = add(
      Array.from({ length: 30 }, (_, at) => 100 + at),
      1,
    );
    const later = add([50], 1);
    const job = add([1, 2], 1, { awaitsTransfer: true });
    model.begin();
    model.arrived(job);
    assert.deepEqual([...model.prefilling], [long, job, later]);
    model.end(1);
    assert.ok(run() > 0);
  });

  it("is computed here after all where it lost its blocks", () => {
    const { model, run, add } = makeModel(6);
    const one = add([1, 2], 250, { awaitsTransfer: true });
    const other = add([3, 4], 250);
    model.begin();
    model.arrived(one);
    model.end(1);
    run();
    assert.ok(model.preemptions > 0);
    assert.deepEqual([one.isOver, other.isOver, model.cache.freeBlocks], [true, true, 6]);
  });
});
