import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { type EnginePrompt, KvCache, type KvLease } from "../../../../apps/lab/engine/kv-cache.ts";
import { hashedPrompt } from "../../../../apps/lab/mock/tokens.ts";
import { makePrompt } from "../simulate/traces.ts";

/** A cache of `blocks` blocks of 100 tokens, the size of the prompts' blocks. */
const makeCache = (blocks: number) => new KvCache(100 * blocks, 100);

/** Reserves blocks for a prompt that is computed at once. */
function take(cache: KvCache, prompt: EnginePrompt, outputTokens = 0): KvLease | undefined {
  const lease = cache.reserve(prompt, outputTokens, prompt.tokens);
  if (lease) cache.publish(lease, prompt.tokens);
  return lease;
}

function taken(cache: KvCache, prompt: EnginePrompt, outputTokens = 0): KvLease {
  const lease = take(cache, prompt, outputTokens);
  assert.ok(lease);
  return lease;
}

describe("a KV cache", () => {
  it("finds leading blocks that are cached", () => {
    const cache = makeCache(10);
    const first = makePrompt([1, 2, 3]);
    const lease = taken(cache, first);
    assert.equal(lease.cachedTokens, 0);
    cache.release(lease);
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
    assert.equal(taken(cache, makePrompt([1, 2])).cachedTokens, 0);
    assert.equal(taken(cache, makePrompt([1, 2, 3]), 100).cachedTokens, 200);
    assert.equal(cache.usage, 1);
  });

  it("evicts the least recently used blocks first, and a prompt's tail before its head", () => {
    const cache = makeCache(6);
    const [old, recent] = [makePrompt([1, 2, 3]), makePrompt([4, 5, 6])];
    for (const prompt of [old, recent]) {
      cache.release(taken(cache, prompt));
    }
    const held = (prompt: ReturnType<typeof makePrompt>) => cache.heldTokens(prompt) / 100;
    for (const [block, oldHeld, recentHeld] of [
      [7, 2, 3],
      [8, 1, 3],
      [9, 0, 3],
      [10, 0, 2],
    ] as const) {
      taken(cache, makePrompt([block]));
      assert.deepEqual([held(old), held(recent)], [oldHeld, recentHeld], `block ${block}`);
    }
  });

  it("keeps a prefix in use when its tail is evicted", () => {
    const cache = makeCache(4);
    const [one, other] = [makePrompt([1, 2]), makePrompt([1, 3])];
    const lease = taken(cache, one);
    taken(cache, other);
    cache.release(lease);
    assert.equal(taken(cache, makePrompt([4, 5])).cachedTokens, 0);
    assert.deepEqual([cache.heldTokens(one), cache.heldTokens(other)], [100, 200]);
  });

  it("reserves nothing when too few blocks can be freed", () => {
    const cache = makeCache(4);
    const [used, idle] = [makePrompt([1, 2]), makePrompt([3])];
    cache.release(taken(cache, idle));
    taken(cache, used);
    assert.equal(take(cache, makePrompt([5, 6]), 100), undefined);
    assert.equal(take(cache, makePrompt([3, 5]), 100), undefined, "a hit that nobody uses yet takes room too");
    assert.deepEqual([cache.heldTokens(idle), cache.usage], [100, 0.5]);
    assert.equal(taken(cache, makePrompt([5]), 100).cachedTokens, 0);
  });

  it("frees the blocks of the output", () => {
    const cache = makeCache(4);
    const prompt = makePrompt([1]);
    const lease = taken(cache, prompt, 250);
    assert.equal(cache.usage, 1);
    cache.release(lease);
    assert.equal(cache.usage, 0);
    assert.equal(taken(cache, makePrompt([1, 2, 3, 4])).cachedTokens, 100);
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
        const kept: KvLease[] = [];
        for (const { path, outputTokens, isKept } of steps) {
          const prompt = promptOf(path);
          const before = cache.heldTokens(prompt);
          const lease = take(cache, prompt, outputTokens);
          if (lease === undefined) continue;
          assert.equal(lease.cachedTokens, before);
          assert.equal(cache.heldTokens(prompt), prompt.tokens);
          assert.ok(cache.usage <= 1);
          if (isKept) kept.push(lease);
          else cache.release(lease);
        }
        for (const lease of kept) {
          assert.equal(cache.heldTokens(lease.prompt), lease.prompt.tokens, "what is used is not evicted");
          cache.release(lease);
        }
        assert.equal(cache.usage, 0);
      }),
    );
  });
});

const prompt = (start: number, length: number) => Array.from({ length }, (_, index) => start + index);

/** In blocks of four tokens. */
const reserve = (cache: KvCache, tokens: readonly number[], replyTokens = 0, key = "") =>
  cache.reserve(hashedPrompt(tokens, key, 4), replyTokens, tokens.length - 1);

function reserved(cache: KvCache, tokens: readonly number[], replyTokens = 0, key = ""): KvLease {
  const lease = reserve(cache, tokens, replyTokens, key);
  assert.ok(lease);
  return lease;
}

/** Computes a prompt and leaves it in the cache. */
function computed(cache: KvCache, tokens: readonly number[], key = ""): number {
  const lease = reserved(cache, tokens, 0, key);
  cache.publish(lease, tokens.length);
  cache.release(lease);
  return lease.cachedTokens;
}

describe("a KV cache whose last token is always computed", () => {
  it("finds full blocks of a prefix, but never the last token", () => {
    const cache = new KvCache(160, 4);
    assert.equal(computed(cache, prompt(0, 10)), 0);
    assert.equal(computed(cache, prompt(0, 10)), 8);
    assert.equal(computed(cache, prompt(0, 8)), 4);
    assert.equal(computed(cache, [...prompt(0, 4), ...prompt(90, 8)]), 4);
  });

  it("keeps adapters and salts apart", () => {
    const cache = new KvCache(160, 4);
    computed(cache, prompt(0, 9), "a");
    assert.equal(computed(cache, prompt(0, 9), "b"), 0);
    assert.equal(computed(cache, prompt(0, 9), "a"), 8);
  });

  it("a prompt can be found as far as it is computed, also while it is in use", () => {
    const cache = new KvCache(160, 4);
    const first = reserved(cache, prompt(0, 9));
    assert.equal(reserved(cache, prompt(0, 9)).cachedTokens, 0);
    cache.publish(first, 7);
    assert.equal(reserved(cache, prompt(0, 9)).cachedTokens, 4);
    cache.publish(first, 9);
    assert.equal(reserved(cache, prompt(0, 9)).cachedTokens, 8);
  });

  it("counts the blocks in use, including the output's, and frees them", () => {
    const cache = new KvCache(40, 4);
    const lease = reserved(cache, prompt(0, 10), 6);
    assert.equal(cache.usage, 0.4);
    cache.publish(lease, 10);
    assert.equal(cache.usage, 0.4);
    cache.release(lease);
    assert.equal(cache.usage, 0);
  });

  it("shares blocks between requests", () => {
    const cache = new KvCache(40, 4);
    computed(cache, prompt(0, 9));
    const leases = [reserved(cache, prompt(0, 9)), reserved(cache, prompt(0, 9))];
    assert.equal(cache.usage, 0.4);
    for (const lease of leases) cache.release(lease);
    assert.equal(cache.usage, 0);
  });

  it("refuses what does not fit now", () => {
    const cache = new KvCache(40, 4);
    const lease = reserved(cache, prompt(0, 30));
    assert.equal(reserve(cache, prompt(100, 12)), undefined);
    cache.release(lease);
    assert.ok(reserve(cache, prompt(100, 12)));
  });

  it("evicts the least recently used prompt first, and its tail before its head", () => {
    const cache = new KvCache(40, 4);
    computed(cache, prompt(0, 13));
    computed(cache, prompt(100, 13));
    computed(cache, prompt(200, 21));
    assert.equal(computed(cache, prompt(100, 13)), 12);
    assert.equal(computed(cache, prompt(0, 13)), 4);
  });
});
