import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { EngineBlocks } from "../../../../plugins/features/kv-events/cache/engine-blocks.ts";
import { tokenKeys } from "../../../../plugins/features/kv-events/prompts/token-keys.ts";
import { batch, CLEARED, pack, removedMap, storedList, storedMap, take, tokensFrom } from "../../../support/event-batches.ts";

const NO_EXTRAS = { adapter: "", salt: "" };
const BIG = 2n ** 63n + 12345n;

function engine(maxBlocks = 1_000) {
  const budget = { left: maxBlocks };
  return { blocks: new EngineBlocks(budget), budget };
}

/** How many leading blocks of the prompt the engine holds. */
function held(blocks: EngineBlocks, tokens: readonly number[], extras = NO_EXTRAS): number {
  const keys = tokenKeys(tokens, blocks.blockTokens, extras);
  let count = 0;
  while (2 * count < keys.length && blocks.holds(keys[2 * count]!, keys[2 * count + 1]!)) count += 1;
  return count;
}

describe("what an engine's events say of its cache", () => {
  const tokens = tokensFrom(1, 16);

  it("knows stored blocks by their tokens, and forgets removed ones", () => {
    const { blocks } = engine();
    assert.equal(take(blocks, batch([storedMap({ hashes: [BIG, 7n], tokens: tokens.slice(0, 8) })])), 1.5);
    take(blocks, batch([storedMap({ hashes: [9n], parent: 7n, tokens: tokens.slice(8, 12) })]));
    assert.equal(blocks.blockTokens, 4);
    assert.equal(held(blocks, tokens), 3);
    assert.equal(held(blocks, tokensFrom(2, 16)), 0);
    take(blocks, batch([removedMap([9n])]));
    assert.equal(held(blocks, tokens), 2);
    assert.equal(blocks.size, 2);
    take(blocks, batch([CLEARED]));
    assert.equal(held(blocks, tokens), 0);
    assert.equal(blocks.isWhole, true);
  });

  it("tells hashes apart that differ beyond what a double holds", () => {
    const { blocks } = engine();
    take(blocks, batch([storedMap({ hashes: [BIG, BIG + 1n], tokens: tokens.slice(0, 8) })]));
    take(blocks, batch([removedMap([BIG + 1n])]));
    assert.equal(held(blocks, tokens), 1);
  });

  it("reads lists, signed hashes and digests", () => {
    const { blocks } = engine();
    take(blocks, batch([storedList({ hashes: [-5n], tokens: tokens.slice(0, 4) })], 2, null));
    take(blocks, batch([storedList({ hashes: [-6n], parent: -5n, tokens: tokens.slice(4, 8) })]));
    assert.equal(held(blocks, tokens), 2);
    take(blocks, batch([["BlockRemoved", [-6n]]]));
    assert.equal(held(blocks, tokens), 1);
    const digest = Buffer.alloc(32, 3);
    take(blocks, batch([storedMap({ hashes: [digest], tokens: tokens.slice(4, 8) })]));
    take(blocks, batch([storedMap({ hashes: [77n], parent: digest.readBigUInt64BE(24), tokens: tokens.slice(8, 12) })]));
    assert.equal(held(blocks, tokens.slice(4)), 2);
  });

  it("reads token ids and hashes of every length, in blocks of even and odd sizes", () => {
    const ids = [0, 1, 127, 128, 255, 256, 65_535, 65_536, 2 ** 24, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1];
    for (const size of [1, 2, 3, 4]) {
      const { blocks } = engine();
      const hashes = Array.from(
        { length: ids.length / size },
        (_, block) => [5n, 300n, 70_000n, BIG][block % 4]! + BigInt(block),
      );
      const stored = batch([storedMap({ hashes, tokens: ids })]);
      take(blocks, stored);
      assert.equal(blocks.blockTokens, size);
      assert.equal(held(blocks, ids), ids.length / size);
      take(blocks, batch([removedMap([hashes.at(-1)!])]));
      assert.equal(held(blocks, ids), ids.length / size - 1);
      // The rank behind the events is not read.
      for (let end = 1; end < stored.length - 1; end++)
        assert.throws(() => take(engine().blocks, stored.subarray(0, end)), RangeError);
    }
  });

  it("keeps prompts with another adapter or salt apart", () => {
    const { blocks } = engine();
    const more = { extra_keys: [["lora", "salt"], ["lora"]], lora_id: 1, lora_name: "lora" };
    take(blocks, batch([storedMap({ hashes: [1n, 2n], tokens: tokens.slice(0, 8), more })]));
    assert.equal(held(blocks, tokens), 0);
    assert.equal(held(blocks, tokens, { adapter: "lora", salt: "salt" }), 2);
    assert.equal(held(blocks, tokens, { adapter: "lora", salt: "" }), 0);
    assert.equal(held(blocks, tokens, { adapter: "", salt: "salt" }), 0);
    // Older ones name only the adapter; by its number alone nothing can be said.
    take(blocks, batch([storedMap({ hashes: [3n], tokens: tokens.slice(0, 4), more: { lora_name: "other" } })]));
    assert.equal(held(blocks, tokens, { adapter: "other", salt: "" }), 1);
    take(blocks, batch([storedMap({ hashes: [4n], tokens: tokens.slice(8, 12), more: { lora_id: 3 } })]));
    assert.equal(held(blocks, tokens.slice(8)), 0);
  });

  it("keeps a block that is left in another memory, and ignores those that others share", () => {
    const { blocks } = engine();
    take(blocks, batch([storedMap({ hashes: [1n], tokens: tokens.slice(0, 4) })]));
    take(blocks, batch([storedMap({ hashes: [1n], tokens: [], more: { medium: "CPU" } })]));
    take(blocks, batch([removedMap([1n])]));
    assert.equal(held(blocks, tokens), 1);
    take(blocks, batch([removedMap([1n], "CPU")]));
    assert.equal(held(blocks, tokens), 0);
    take(blocks, batch([storedMap({ hashes: [2n], tokens: tokens.slice(0, 4), more: { medium: "STORAGE" } })]));
    assert.equal(held(blocks, tokens), 0);
  });

  it("follows the first group of layers that keeps all tokens", () => {
    const { blocks } = engine();
    const group = (group_idx: number, kv_cache_spec_kind: string) => ({ group_idx, kv_cache_spec_kind });
    const event = { tokens: tokens.slice(0, 4) };
    take(blocks, batch([storedMap({ hashes: [1n], ...event, more: group(0, "sliding_window") })]));
    assert.equal(blocks.size, 0);
    take(blocks, batch([storedMap({ hashes: [1n], ...event, more: group(1, "full_attention") })]));
    assert.equal(held(blocks, tokens), 1);
    take(blocks, batch([{ type: "BlockRemoved", block_hashes: [1n], medium: "GPU", group_idx: 0 }]));
    assert.equal(held(blocks, tokens), 1);
    take(blocks, batch([{ type: "BlockRemoved", block_hashes: [1n], medium: "GPU", group_idx: 1 }]));
    assert.equal(held(blocks, tokens), 0);
  });

  it("says nothing of blocks whose beginning is unknown", () => {
    const { blocks } = engine();
    take(blocks, batch([storedMap({ hashes: [5n], parent: 4n, tokens: tokens.slice(4, 8) })]));
    assert.equal(blocks.size, 0);
    assert.equal(blocks.orphans, 1);
  });

  it("passes over events and members that it does not know", () => {
    const { blocks } = engine();
    const event = storedMap({ hashes: [1n], tokens: tokens.slice(0, 4), more: { locality: "LOCAL", new: { deep: [1, null] } } });
    take(blocks, batch([{ type: "Later", what: [1, 2] }, ["Newer", 1, 2, 3], event]));
    assert.equal(held(blocks, tokens), 1);
  });

  it("knows how much fits once it has given up a quarter of it without growing, if it knows all", () => {
    const { blocks } = engine();
    take(blocks, batch([CLEARED]));
    const store = (name: bigint) => take(blocks, batch([storedMap({ hashes: [name], tokens: [Number(name), 1] })]));
    for (let name = 1n; name <= 20n; name++) store(name);
    take(blocks, batch([removedMap([1n, 2n])]));
    assert.equal(blocks.fullTokens, undefined);
    for (let name = 21n; name <= 100n; name++) {
      store(name);
      if (name <= 42n) continue;
      take(blocks, batch([removedMap([name - 40n])]));
      assert.equal(blocks.fullTokens, name < 53n ? undefined : 2 * 41, String(name));
    }
    blocks.forget(false);
    assert.equal(blocks.fullTokens, undefined);
  });

  it("holds no more blocks than it may, and gives room back", () => {
    const { blocks, budget } = engine(3);
    take(blocks, batch([storedMap({ hashes: [1n, 2n, 3n, 4n], tokens })]));
    assert.equal(blocks.size, 3);
    assert.equal(blocks.isCut, true);
    take(blocks, batch([removedMap([1n])]));
    assert.equal(budget.left, 1);
    blocks.forget(false);
    assert.equal(budget.left, 3);
  });

  it("forgets blocks of another size", () => {
    const { blocks } = engine();
    take(blocks, batch([storedMap({ hashes: [1n], tokens: tokens.slice(0, 4) })]));
    take(blocks, batch([storedMap({ hashes: [2n], tokens: tokens.slice(0, 8) })]));
    assert.equal(blocks.blockTokens, 8);
    assert.equal(held(blocks, tokens), 1);
    assert.equal(blocks.size, 1);
  });

  it("is right after any order of stored and removed blocks", () => {
    const steps = fc.array(fc.tuple(fc.nat(60), fc.boolean()), { maxLength: 400 });
    fc.assert(
      fc.property(steps, (all) => {
        const { blocks, budget } = engine(1_000);
        const there = new Set<number>();
        for (const [number, isStored] of all) {
          const hash = BigInt(number) * 2n ** 40n;
          if (isStored) take(blocks, batch([storedMap({ hashes: [hash], tokens: tokensFrom(number * 10, 4) })]));
          else take(blocks, batch([removedMap([hash])]));
          if (isStored) there.add(number);
          else there.delete(number);
        }
        assert.equal(blocks.size, there.size);
        assert.equal(budget.left, 1_000 - there.size);
        for (let number = 0; number <= 60; number++)
          if (blocks.blockTokens > 0) assert.equal(held(blocks, tokensFrom(number * 10, 4)), there.has(number) ? 1 : 0);
      }),
      { numRuns: 60 },
    );
  });

  it("refuses what is no batch, however long it says that it is", () => {
    const { blocks } = engine();
    for (const bad of ["", "c0", "93", "dd7fffffff", "92cb3ff8000000000000dd7fffffff", "93cb3ff800000000000091dfffffffff"])
      assert.throws(() => take(blocks, Buffer.from(bad, "hex")), RangeError, bad);
    assert.throws(() => take(blocks, pack(["x", 1])), RangeError);
    const nested = Buffer.concat([Buffer.from("92c091", "hex"), Buffer.alloc(100_000, 0x91), Buffer.from([0xc0])]);
    assert.throws(() => take(blocks, nested), RangeError);
    const whole = batch([storedMap({ hashes: [1n], tokens: tokens.slice(0, 4), more: { extra_keys: [["a"]] } })]);
    // The rank at the end is not read.
    for (let length = 0; length < whole.length - 1; length++)
      assert.throws(() => take(blocks, whole.subarray(0, length)), RangeError);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          take(blocks, bytes);
        } catch (thrown) {
          assert.ok(thrown instanceof RangeError, String(thrown));
        }
      }),
      { numRuns: 500 },
    );
  });
});
