import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { KvCache, type KvLease } from "../../../core/mock/kv-cache.ts";

const prompt = (start: number, length: number) => Array.from({ length }, (_, index) => start + index);

function reserved(cache: KvCache, tokens: readonly number[], replyTokens = 0, key = ""): KvLease {
  const lease = cache.reserve(cache.hashes(tokens, key), tokens.length, replyTokens);
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

describe("the KV cache of a mock replica", () => {
  test("finds full blocks of a prefix, but never the last token", () => {
    const cache = new KvCache(160, 4);
    assert.equal(computed(cache, prompt(0, 10)), 0);
    assert.equal(computed(cache, prompt(0, 10)), 8);
    assert.equal(computed(cache, prompt(0, 8)), 4);
    assert.equal(computed(cache, [...prompt(0, 4), ...prompt(90, 8)]), 4);
  });

  test("keeps adapters and salts apart", () => {
    const cache = new KvCache(160, 4);
    computed(cache, prompt(0, 9), "a");
    assert.equal(computed(cache, prompt(0, 9), "b"), 0);
    assert.equal(computed(cache, prompt(0, 9), "a"), 8);
  });

  test("a prompt can be found as far as it is computed, also while it is in use", () => {
    const cache = new KvCache(160, 4);
    const first = reserved(cache, prompt(0, 9));
    assert.equal(reserved(cache, prompt(0, 9)).cachedTokens, 0);
    cache.publish(first, 7);
    assert.equal(reserved(cache, prompt(0, 9)).cachedTokens, 4);
    cache.publish(first, 9);
    assert.equal(reserved(cache, prompt(0, 9)).cachedTokens, 8);
  });

  test("counts the blocks in use, including the output's, and frees them", () => {
    const cache = new KvCache(40, 4);
    const lease = reserved(cache, prompt(0, 10), 6);
    assert.equal(cache.usage, 0.4);
    cache.publish(lease, 10);
    assert.equal(cache.usage, 0.4);
    cache.release(lease);
    assert.equal(cache.usage, 0);
  });

  test("shares blocks between requests", () => {
    const cache = new KvCache(40, 4);
    computed(cache, prompt(0, 9));
    const leases = [reserved(cache, prompt(0, 9)), reserved(cache, prompt(0, 9))];
    assert.equal(cache.usage, 0.4);
    for (const lease of leases) cache.release(lease);
    assert.equal(cache.usage, 0);
  });

  test("refuses what does not fit now", () => {
    const cache = new KvCache(40, 4);
    const lease = reserved(cache, prompt(0, 30));
    assert.equal(cache.reserve(cache.hashes(prompt(100, 12), ""), 12, 0), undefined);
    cache.release(lease);
    assert.ok(cache.reserve(cache.hashes(prompt(100, 12), ""), 12, 0));
  });

  test("evicts the least recently used prompt first, and its tail before its head", () => {
    const cache = new KvCache(40, 4);
    computed(cache, prompt(0, 13));
    computed(cache, prompt(100, 13));
    computed(cache, prompt(200, 21));
    assert.equal(computed(cache, prompt(100, 13)), 12);
    assert.equal(computed(cache, prompt(0, 13)), 4);
  });
});
