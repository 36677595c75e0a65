import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { KnownPrompts } from "../../../../plugins/features/kv-events/prompts/known-prompts.ts";
import { tokensFrom } from "../../../support/event-batches.ts";

const EXTRAS = { adapter: "", salt: "" };
const SIZES = [16];

/** A prompt of the router's blocks with these names; each is believed to have 60 tokens. */
function chain(...names: readonly number[]) {
  let before = 7;
  const hashes = names.flatMap((name) => {
    before = (Math.imul(before, 31) + name) | 0;
    return [before, Math.imul(before, 17)];
  });
  return { blocks: names.length, hashes, tokensIn: () => 60 };
}

describe("prompts whose tokens are known", () => {
  it("are found by their beginning", () => {
    const known = new KnownPrompts();
    known.learn(chain(1, 2, 3, 4), tokensFrom(0, 250), SIZES, EXTRAS);
    assert.equal(known.find(chain(1, 2, 3, 4, 5))?.blocks, 4);
    assert.equal(known.find(chain(1, 2, 9))?.blocks, 2);
    assert.equal(known.find(chain(9, 2)), undefined);
    assert.equal(known.find(chain()), undefined);
  });

  it("have tokens in proportion to what the router believes, and no more than there are", () => {
    const known = new KnownPrompts();
    known.learn(chain(1, 2, 3, 4), tokensFrom(0, 500), SIZES, EXTRAS);
    const ends = [1, 2, 3, 4].map((blocks) => known.find(chain(...[1, 2, 3, 4].slice(0, blocks)))!.tokens);
    assert.deepEqual(ends, [111, 222, 333, 444]);
  });

  it("end a common beginning where their tokens begin to differ", () => {
    const known = new KnownPrompts();
    // The beginning is denser than the rest: 300 tokens in two of four blocks.
    const common = tokensFrom(0, 300);
    known.learn(chain(1, 2, 3, 4), [...common, ...tokensFrom(1_000, 100)], SIZES, EXTRAS);
    assert.ok(known.find(chain(1, 2))!.tokens < 200);
    known.learn(chain(1, 2, 5, 6), [...common, ...tokensFrom(2_000, 100)], SIZES, EXTRAS);
    assert.equal(known.find(chain(1, 2))!.tokens, 288);
  });

  it("give way to the next turn of a conversation, which has all that they had", () => {
    const known = new KnownPrompts();
    for (let turn = 1; turn <= 50; turn++) {
      const blocks = Array.from({ length: 4 * turn }, (_, i) => i);
      known.learn(chain(...blocks), tokensFrom(0, 240 * turn), SIZES, EXTRAS);
    }
    assert.equal(known.size, 1);
    assert.equal(known.find(chain(0, 1, 2))?.blocks, 3);
  });

  it("are bounded: those that were used last stay", () => {
    const known = new KnownPrompts();
    const long = (name: number) => chain(...Array.from({ length: 400 }, (_, i) => 1_000 * name + i));
    known.learn(long(0), tokensFrom(0, 100), SIZES, EXTRAS);
    const first = known.find(long(0))!.prompt;
    for (let name = 1; name < 700; name++) {
      known.learn(long(name), tokensFrom(0, 100), SIZES, EXTRAS);
      known.used(first);
    }
    assert.ok(known.size <= 500, String(known.size));
    assert.equal(known.find(long(0))?.blocks, 400);
    assert.equal(known.find(long(1)), undefined);
    assert.equal(known.find(long(699))?.blocks, 400);
  });
});
