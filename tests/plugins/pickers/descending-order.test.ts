import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { descendingOrder } from "../../../plugins/pickers/descending-order.ts";
import { makeEndpoints, seededRandom } from "../../support/endpoints.ts";

const never = () => assert.fail("no tie, so nothing to draw");

describe("descendingOrder", () => {
  const cases: readonly [keys: readonly number[], slots: readonly number[]][] = [
    [[], []],
    [[0.5], [0]],
    [
      [0.1, 0.9, 0.5],
      [1, 2, 0],
    ],
    [
      [3, 2, 1],
      [0, 1, 2],
    ],
    [
      [Number.NEGATIVE_INFINITY, 0, -1],
      [1, 2, 0],
    ],
  ];
  for (const [keys, slots] of cases) {
    it(`[${keys.join(", ")}]`, () => {
      const order = descendingOrder(makeEndpoints(keys.length), keys, never);
      assert.deepEqual(
        order.map(({ slot }) => slot),
        slots,
      );
    });
  }

  for (const count of [2, 8, 16, 17, 200]) {
    it(`sorts ${count}, ties included, like Array.sort`, () => {
      const random = seededRandom(count);
      const keys = Array.from({ length: count }, () => Math.floor(random() * 5));
      const order = descendingOrder(makeEndpoints(count), keys, random);
      assert.deepEqual(
        order.map(({ slot }) => keys[slot]),
        keys.toSorted((a, b) => b - a),
      );
      assert.equal(new Set(order).size, count);
    });
  }

  it("puts equal keys in every order, equally often", () => {
    const random = seededRandom(7);
    const seen = new Map<string, number>();
    for (let round = 0; round < 6000; round++) {
      const order = descendingOrder(makeEndpoints(4), [1, 1, 2, 1], random).map(({ slot }) => slot);
      assert.equal(order[0], 2);
      const rest = order.slice(1).join("");
      seen.set(rest, (seen.get(rest) ?? 0) + 1);
    }
    assert.equal(seen.size, 6);
    for (const times of seen.values()) assert.ok(times > 880 && times < 1120, `${times}`);
  });

  it("is repeatable with the same random numbers", () => {
    const draw = () => descendingOrder(makeEndpoints(20), new Array<number>(20).fill(1), seededRandom(3));
    assert.deepEqual(draw(), draw());
  });
});
