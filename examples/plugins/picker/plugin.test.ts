import assert from "node:assert/strict";
import { test } from "node:test";
import { checkProperties, createPlugin, explain, makeRequest, seededRandom, testPool } from "signalbox/test-kit";
import plugin from "./plugin.ts";

const pool = testPool({ a: {}, b: {}, c: {} });
const scores = { a: 0.2, b: 0.9, c: 0.5 };

const cases = [
  { name: "takes the best where it never explores", explore: 0, chance: 0, order: ["b", "c", "a"] },
  { name: "takes another one where chance says so", explore: 1, chance: 0.99, order: ["a", "b", "c"] },
];
for (const { name, explore, chance, order } of cases)
  test(name, () => {
    const explained = explain(createPlugin(plugin, { explore }), makeRequest(), pool, { scores, random: () => chance });
    assert.deepEqual(explained.order, order);
  });

test("explores as often as it may", () => {
  const [picker, random] = [createPlugin(plugin, { explore: 0.3 }), seededRandom(7)];
  const firsts = Array.from({ length: 3000 }, () => explain(picker, makeRequest(), pool, { scores, random }).order[0]);
  const others = firsts.filter((name) => name !== "b").length;
  // Of those that explore, a third finds the best again.
  assert.ok(Math.abs(others / 3000 - 0.2) < 0.03, String(others));
});

test("keeps what every picker promises", () => checkProperties(plugin));
