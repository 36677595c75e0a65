import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { makeEndpoint } from "../../../core/contract/test-kit.ts";
import { pick } from "../../../core/decide/pick.ts";

const [a, b, gone] = [makeEndpoint(0), makeEndpoint(1), makeEndpoint(1)];

describe("what a picker returns", () => {
  const orderOf = (returned: unknown) =>
    pick({ name: "mine", type: "mine", plugin: { pick: () => returned as readonly Endpoint[] } }, [a, b], [0, 0], Math.random);

  for (const order of [[a], [b], [b, a]]) {
    test(`counts as it is: ${order.map(({ name }) => name)}`, () => assert.deepEqual(orderOf(order), order));
  }

  test("is the router's own then: a picker may use its list again", () => {
    const scratch = [a, b];
    const order = orderOf(scratch);
    scratch.reverse();
    assert.deepEqual(order, [a, b]);
  });

  const refused: readonly (readonly [name: string, returned: unknown])[] = [
    ["nobody", []],
    ["undefined", [undefined]],
    ["null", [a, null]],
    ["something else", [{}]],
    ["an endpoint that is no candidate", [a, gone]],
    ["a candidate twice", [b, a, b]],
    ["a slot that does not exist", [{ ...a, slot: 99_999 }]],
  ];
  for (const [name, returned] of refused) {
    test(`is refused: ${name}`, () => assert.throws(() => orderOf(returned), { code: "plugin_fault" }));
  }
});
