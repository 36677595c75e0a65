import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { makeEndpoint } from "../../../core/contract/test-kit.ts";
import { pick } from "../../../core/stages/pick.ts";

const [a, b, gone] = [makeEndpoint(0), makeEndpoint(1), makeEndpoint(1)];

describe("the order that a picker returns", () => {
  const orderOf = (returned: unknown) =>
    pick({ name: "mine", type: "mine", plugin: { pick: () => returned as readonly Endpoint[] } }, [a, b], [0, 0], Math.random);

  for (const order of [[a], [b], [b, a]]) {
    test(`is used unchanged: ${order.map(({ name }) => name)}`, () => assert.equal(orderOf(order), order));
  }

  const refused: readonly (readonly [name: string, returned: unknown])[] = [
    ["no endpoint", []],
    ["undefined", [undefined]],
    ["null", [a, null]],
    ["something else", [{}]],
    ["an endpoint that is no candidate", [a, gone]],
    ["a slot that does not exist", [{ ...a, slot: 99_999 }]],
  ];
  for (const [name, returned] of refused) {
    test(`is refused: ${name}`, () => assert.throws(() => orderOf(returned), { code: "plugin_fault" }));
  }
});
