import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { stickyPosition } from "../../../plugins/rewriters/sticky-position.ts";

test("positions fill [0, 1) evenly, even for values that differ in one character", () => {
  const tenths = new Array<number>(10).fill(0);
  for (let user = 0; user < 20_000; user++) tenths[Math.floor(stickyPosition("rule", `user-${user}`) * 10)]! += 1;
  for (const count of tenths) assert.ok(Math.abs(count - 2000) < 200, tenths.join());
});

test("two rules give the same value different positions", () => {
  let sameHalf = 0;
  for (let user = 0; user < 2000; user++) {
    const isSame = stickyPosition("a", `user-${user}`) < 0.5 === stickyPosition("b", `user-${user}`) < 0.5;
    sameHalf += isSame ? 1 : 0;
  }
  assert.ok(Math.abs(sameHalf - 1000) < 120, `${sameHalf}`);
});

describe("a position is the same on every runtime and in every release", () => {
  const cases: readonly [value: string, position: string][] = [
    ["", "0.012011065"],
    ["user-1", "0.491571817"],
    ["Jürgen", "0.031076089"],
    ["日本", "0.564779754"],
  ];
  for (const [value, position] of cases) {
    it(JSON.stringify(value), () => assert.equal(stickyPosition("food-review/0", value).toFixed(9), position));
  }
});
