import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import modelList from "../../../plugins/sources/model-list.ts";
import { createPlugin } from "../../support/plugins.ts";

const source = createPlugin(modelList);
const read = (list: unknown) => source.read(JSON.stringify(list)).models;

test("path and period", () => {
  assert.deepEqual([source.path, source.periodMs], ["/v1/models", 5000]);
  assert.equal(createPlugin(modelList, { periodMs: 250 }).periodMs, 250);
});

describe("the names", () => {
  const cases: readonly [name: string, list: unknown, models: readonly string[]][] = [
    [
      "of a base model and its adapter",
      {
        object: "list",
        data: [
          { id: "tiny", parent: null },
          { id: "food-v1", parent: "tiny" },
        ],
      },
      ["tiny", "food-v1"],
    ],
    ["once each", { data: [{ id: "a" }, { id: "b" }, { id: "a" }] }, ["a", "b"]],
    ["of an empty list", { data: [] }, []],
  ];
  for (const [name, list, models] of cases) it(name, () => assert.deepEqual(read(list), models));
});

describe("which of them are adapters", () => {
  const cases: readonly [name: string, cards: readonly object[], adapters: readonly string[] | undefined][] = [
    [
      "those with a parent",
      [
        { id: "tiny", parent: null },
        { id: "a", parent: "tiny" },
        { id: "b", parent: "tiny" },
      ],
      ["a", "b"],
    ],
    ["none, if no model has a parent", [{ id: "tiny", parent: null }], []],
    ["unknown, if the list has no parents at all", [{ id: "tiny" }], undefined],
  ];
  for (const [name, data, adapters] of cases) {
    it(name, () => assert.deepEqual(source.read(JSON.stringify({ data })).adapters, adapters));
  }
});

describe("a body of another shape is refused with the shape that is wanted", () => {
  const bodies = [
    "",
    "<html>",
    "[]",
    "null",
    '"x"',
    "{}",
    '{"data":{}}',
    '{"data":["a"]}',
    '{"data":[{"id":7}]}',
    '{"data":[{"id":""}]}',
    '{"data":[null]}',
  ];
  for (const body of bodies)
    it(body || "(empty)", () => assert.throws(() => source.read(body), /GET \/v1\/models with \{"data"/));
});

test("a list that is too long, or has a name that is too long, is refused", () => {
  const entries = (count: number) => ({ data: Array.from({ length: count }, (_, id) => ({ id: `m${id}` })) });
  assert.equal(read(entries(10_000))?.length, 10_000);
  assert.throws(() => read(entries(10_001)), /at most 10000/);
  assert.throws(() => read({ data: [{ id: "x".repeat(513) }] }), /longer than 512/);
});
