/** Numbers in events have the same bounds on every runtime; beyond them a batch is malformed, and nothing is believed of it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EngineBlocks } from "../../../../plugins/features/kv-events/cache/engine-blocks.ts";
import { tokenKeys } from "../../../../plugins/features/kv-events/prompts/token-keys.ts";
import { batch, Double, storedList, storedMap, take, tokensFrom } from "../../../support/event-batches.ts";

const HUGE = 9_000_000_000_000_000;
const tokens = tokensFrom(1, 8);

type Numbers = Readonly<Record<string, number | bigint | string | null>>;

/** How many of two blocks of four tokens are believed; undefined for a malformed batch. */
function believed(payload: Uint8Array, said: readonly number[] = tokens): number | undefined {
  const blocks = new EngineBlocks({ left: 100 });
  try {
    take(blocks, payload);
  } catch (thrown) {
    assert.ok(thrown instanceof RangeError, String(thrown));
    return undefined;
  }
  const keys = tokenKeys(said, 4, { adapter: "", salt: "" });
  return [0, 1].filter((block) => blocks.holds(keys[2 * block]!, keys[2 * block + 1]!)).length;
}

const FIELDS: readonly (readonly [fields: Numbers, believed: number | undefined])[] = [
  [{ block_size: 4 }, 2],
  [{ block_size: null }, 2],
  [{ block_size: 0 }, 2],
  // It contradicts the tokens: whose they are nobody can say.
  [{ block_size: 5 }, 0],
  [{ block_size: 2 ** 20 }, 0],
  [{ block_size: 2 ** 20 + 1 }, undefined],
  [{ block_size: HUGE }, undefined],
  [{ block_size: 2n ** 32n + 4n }, undefined],
  [{ block_size: 2n ** 64n - 1n }, undefined],
  [{ block_size: -4 }, undefined],
  [{ block_size: "4" }, undefined],
  [{ group_idx: 0 }, 2],
  [{ group_idx: 65_536 }, 2],
  [{ group_idx: HUGE }, undefined],
  [{ group_idx: 2n ** 32n }, undefined],
  [{ group_idx: -1 }, undefined],
];

describe("a number of an event", () => {
  for (const [fields, expected] of FIELDS)
    it(`${Object.entries(fields)
      .map(([name, value]) => `${name} ${value}`)
      .join()}: ${expected ?? "malformed"}`, () => {
      assert.equal(believed(batch([storedMap({ hashes: [1n, 2n], tokens, more: fields })])), expected);
    });

  it("is bounded in an event that is a list too, and where it is a fraction", () => {
    const [type, hashes, parent, ids] = storedList({ hashes: [1n, 2n], tokens }) as readonly never[];
    const withSize = (size: never) => believed(batch([[type!, hashes!, parent!, ids!, size, null as never, "GPU" as never]]));
    assert.deepEqual(
      [4, HUGE, new Double(4), new Double(HUGE)].map((size) => withSize(size as never)),
      [2, undefined, undefined, undefined],
    );
  });

  const IDS: readonly (readonly [id: number | bigint, believed: number | undefined])[] = [
    [2 ** 31 - 1, 2],
    [2 ** 32 - 1, 2],
    [-1, 2],
    [2 ** 32, undefined],
    [2n ** 32n + 3n, undefined],
    [HUGE, undefined],
    [2n ** 63n, undefined],
    [-(2n ** 31n) - 1n, undefined],
    [-(2n ** 63n), undefined],
  ];
  for (const [id, expected] of IDS)
    it(`of a token, ${id}: ${expected ?? "malformed"}`, () => {
      const ids = [...tokens.slice(0, 2), id as number, ...tokens.slice(3)];
      assert.equal(believed(batch([storedMap({ hashes: [1n, 2n], tokens: ids })]), ids), expected);
    });
});
