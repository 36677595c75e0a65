import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tenantsInTurn } from "../../../../../plugins/features/sessions/gate/tenant-order.ts";

const cases: readonly [name: string, waiting: string, most: number, order: string, turns?: Readonly<Record<string, number>>][] = [
  ["the order in which they came, of one tenant", "a1 a2 a3", 9, "a1 a2 a3", { a: 3 }],
  ["one of each tenant first", "a1 a2 a3 b1 c1 b2", 9, "a1 b1 c1 a2 b2 a3"],
  ["those first whose tenant has fewer turns under way", "a1 a2 b1 b2 c1", 9, "b1 a1 b2 a2 c1", { a: 1, c: 2 }],
  ["not more than asked for", "a1 a2 a3 b1", 2, "a1 b1"],
  ["higher priorities first, whoever has fewer turns", "a1 b1+ a2+ b2 c1-", 9, "b1+ a2+ b2 a1 c1-", { a: 2, b: 1 }],
  ["of each priority as many as asked for", "a1- a2- a3- a4+ a5+", 2, "a4+ a5+"],
  ["nobody", "", 4, ""],
];

const PRIORITIES: Readonly<Record<string, number>> = { "": 0, "+": 5, "-": -5 };

describe("turns of several tenants", () => {
  for (const [name, waiting, most, order, turns = {}] of cases) {
    it(`have ${name}`, () => {
      const all = waiting
        .split(" ")
        .flatMap((text) => (text === "" ? [] : [{ tenant: text[0]!, priority: PRIORITIES[text[2] ?? ""]!, text }]));
      const found = tenantsInTurn(all, most, (tenant) => turns[tenant] ?? 0);
      assert.equal(found.map(({ text }) => text).join(" "), order);
    });
  }
});
