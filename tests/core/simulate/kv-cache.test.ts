import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { KvCache } from "../../../core/simulate/kv-cache.ts";
import { makePrompt } from "./traces.ts";

/** A cache of `blocks` blocks of 100 tokens, the size of the prompts' blocks. */
const makeCache = (blocks: number) => new KvCache(100 * blocks, 100);

describe("a KV cache", () => {
  it("finds leading blocks that are cached", () => {
    const cache = makeCache(10);
    const first = makePrompt([1, 2, 3]);
    assert.equal(cache.take(first, 0), 0);
    cache.release(first, 0);
    const rows: readonly [blocks: number[], tokens: number, held: number][] = [
      [[1, 2, 3], 300, 300],
      [[1, 2, 4], 300, 200],
      [[4, 2, 3], 300, 0],
      [[1, 2, 3, 4], 350, 300],
      [[1], 40, 40],
    ];
    for (const [blocks, tokens, held] of rows) assert.equal(cache.heldTokens(makePrompt(blocks, tokens)), held, String(blocks));
  });

  it("shares blocks in use", () => {
    const cache = makeCache(4);
    assert.equal(cache.take(makePrompt([1, 2]), 0), 0);
    assert.equal(cache.take(makePrompt([1, 2, 3]), 100), 200);
    assert.equal(cache.usage, 1);
  });

  it("evicts the least recently used blocks first, and a prompt's tail before its head", () => {
    const cache = makeCache(6);
    const [old, recent] = [makePrompt([1, 2, 3]), makePrompt([4, 5, 6])];
    for (const prompt of [old, recent]) {
      cache.take(prompt, 0);
      cache.release(prompt, 0);
    }
    const held = (prompt: ReturnType<typeof makePrompt>) => cache.heldTokens(prompt) / 100;
    for (const [block, oldHeld, recentHeld] of [
      [7, 2, 3],
      [8, 1, 3],
      [9, 0, 3],
      [10, 0, 2],
    ] as const) {
      cache.take(makePrompt([block]), 0);
      assert.deepEqual([held(old), held(recent)], [oldHeld, recentHeld], `block ${block}`);
    }
  });

  it("keeps a prefix in use when its tail is evicted", () => {
    const cache = makeCache(4);
    const [one, other] = [makePrompt([1, 2]), makePrompt([1, 3])];
    cache.take(one, 0);
    cache.take(other, 0);
    cache.release(one, 0);
    assert.equal(cache.take(makePrompt([4, 5]), 0), 0);
    assert.deepEqual([cache.heldTokens(one), cache.heldTokens(other)], [100, 200]);
  });

  it("reserves nothing when too few blocks can be freed", () => {
    const cache = makeCache(4);
    const [used, idle] = [makePrompt([1, 2]), makePrompt([3])];
    cache.take(idle, 0);
    cache.release(idle, 0);
    cache.take(used, 0);
    assert.equal(cache.take(makePrompt([5, 6]), 100), -1);
    assert.equal(cache.take(makePrompt([3, 5]), 100), -1, "a hit that nobody uses yet takes room too");
    assert.deepEqual([cache.heldTokens(idle), cache.usage], [100, 0.5]);
    assert.equal(cache.take(makePrompt([5]), 100), 0);
  });

  it("frees the blocks of the output", () => {
    const cache = makeCache(4);
    const prompt = makePrompt([1]);
    cache.take(prompt, 250);
    assert.equal(cache.usage, 1);
    cache.release(prompt, 250);
    assert.equal(cache.usage, 0);
    assert.equal(cache.take(makePrompt([1, 2, 3, 4]), 0), 100);
  });

  it("knows what can never fit: tokens are rounded up to blocks, the capacity down", () => {
    const cache = new KvCache(499, 100);
    assert.equal(cache.tokens, 400);
    assert.equal(cache.canEverHold(makePrompt([1, 2, 3]), 100), true);
    assert.equal(cache.canEverHold(makePrompt([1, 2, 3]), 101), false);
    assert.equal(cache.canEverHold(makePrompt([1, 2, 3, 4], 310), 1), false);
  });

  it("never exceeds its capacity, and never holds a block without those before it", () => {
    const path = fc.array(fc.nat(2), { minLength: 1, maxLength: 4 });
    const step = fc.record({ path, outputTokens: fc.nat(300), isKept: fc.boolean() });
    /** An id encodes all blocks before it, as in a trace. */
    const promptOf = (steps: readonly number[]) =>
      makePrompt(steps.map((_, at) => 1 + Number.parseInt(`1${steps.slice(0, at + 1).join("")}`, 10)));
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const cache = makeCache(8);
        const kept: [ReturnType<typeof makePrompt>, number][] = [];
        for (const { path, outputTokens, isKept } of steps) {
          const prompt = promptOf(path);
          const before = cache.heldTokens(prompt);
          const held = cache.take(prompt, outputTokens);
          if (held < 0) continue;
          assert.equal(held, before);
          assert.equal(cache.heldTokens(prompt), prompt.tokens);
          assert.ok(cache.usage <= 1);
          if (isKept) kept.push([prompt, outputTokens]);
          else cache.release(prompt, outputTokens);
        }
        for (const [prompt, outputTokens] of kept) {
          assert.equal(cache.heldTokens(prompt), prompt.tokens, "what is used is not evicted");
          cache.release(prompt, outputTokens);
        }
        assert.equal(cache.usage, 0);
      }),
    );
  });
});
