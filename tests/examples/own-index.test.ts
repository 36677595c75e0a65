import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../core/contract/endpoint.ts";
import { NO_PREFIX, type PrefixMatch } from "../../core/contract/prefix-match.ts";
import { OwnIndex } from "../../examples/policies/own-index.ts";

/** A prompt of these blocks, of 100 tokens each. */
function prompt(...blocks: readonly number[]): PrefixMatch {
  return { ...NO_PREFIX, blocks: blocks.length, hashes: blocks.flatMap((block) => [block, block]), tokensIn: () => 100 };
}

const endpoint = (slot: number, name = `e${slot}`) => ({ slot, name }) as Endpoint;

describe("a policy's own index", () => {
  const make = (maxTokens: number, maxIdleMs = Number.POSITIVE_INFINITY) => {
    const clock = { nowMs: 0, now: () => clock.nowMs };
    const index = new OwnIndex({ maxTokens, maxIdleMs, clock });
    return { index, clock, held: (prefix: PrefixMatch, slot = 0) => index.match(prefix, endpoint(slot)).tokens };
  };

  it("knows the longest beginning that an endpoint was sent", () => {
    const { index, held } = make(10_000);
    index.add(prompt(1, 2, 3), endpoint(0));
    index.add(prompt(1, 2), endpoint(1));
    assert.deepEqual([held(prompt(1, 2, 3, 4)), held(prompt(1, 2, 3, 4), 1), held(prompt(1, 2), 2)], [300, 200, 0]);
    assert.deepEqual([held(prompt(9, 2, 3)), held(NO_PREFIX)], [0, 0]);
  });

  it("knows which endpoint was sent it last", () => {
    const { index } = make(10_000);
    index.add(prompt(1, 2), endpoint(0));
    index.add(prompt(1, 2), endpoint(1));
    const last = (slot: number) => index.match(prompt(1, 2), endpoint(slot)).prompt;
    assert.ok(last(1) > last(0));
    index.add(prompt(1, 2), endpoint(0));
    assert.ok(last(0) > last(1));
  });

  it("forgets the least recently used prompt, its end first", () => {
    const { index, held } = make(400);
    index.add(prompt(1, 2), endpoint(0));
    index.add(prompt(3, 4), endpoint(0));
    assert.deepEqual([held(prompt(1, 2)), held(prompt(3, 4))], [200, 200]);
    index.add(prompt(5), endpoint(0));
    assert.deepEqual([held(prompt(1, 2)), held(prompt(3, 4)), held(prompt(5))], [100, 200, 100]);
    index.add(prompt(1, 2), endpoint(0));
    assert.deepEqual([held(prompt(1, 2)), held(prompt(3, 4)), held(prompt(5))], [200, 100, 100]);
  });

  it("forgets what was idle for too long", () => {
    const { index, clock, held } = make(10_000, 1_000);
    index.add(prompt(1, 2), endpoint(0));
    clock.nowMs = 1_000;
    assert.equal(held(prompt(1, 2)), 200);
    clock.nowMs = 1_001;
    assert.equal(held(prompt(1, 2)), 0);
  });

  it("knows nothing of another endpoint in the same slot", () => {
    const { index, held } = make(10_000);
    index.add(prompt(1), endpoint(0));
    index.add(prompt(2), endpoint(0, "other"));
    assert.deepEqual([held(prompt(1)), index.match(prompt(2), endpoint(0, "other")).tokens], [0, 100]);
  });
});
