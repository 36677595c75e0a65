import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import modelList from "../../../plugins/sources/model-list.ts";
import { createPlugin } from "../../support/plugins.ts";

const source = createPlugin(modelList);
const read = (page: unknown) => source.read(JSON.stringify(page)).models;

test("where and how often", () => {
  assert.deepEqual([source.path, source.periodMs], ["/v1/models", 5000]);
  assert.equal(createPlugin(modelList, { periodMs: 250 }).periodMs, 250);
});

describe("the names", () => {
  const cases: readonly [name: string, page: unknown, models: readonly string[]][] = [
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
    ["of nobody", { data: [] }, []],
  ];
  for (const [name, page, models] of cases) it(name, () => assert.deepEqual(read(page), models));
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
    ["none, where none has one", [{ id: "tiny", parent: null }], []],
    ["not known, where the list says nothing of parents", [{ id: "tiny" }], undefined],
  ];
  for (const [name, data, adapters] of cases) {
    it(name, () => assert.deepEqual(source.read(JSON.stringify({ data })).adapters, adapters));
  }
});

describe("a page of another shape is refused with the shape that is wanted", () => {
  const pages = [
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
  for (const page of pages) it(page || "(empty)", () => assert.throws(() => source.read(page), /GET \/v1\/models with \{"data"/));
});

test("what a replica can make the router remember is bounded", () => {
  const entries = (count: number) => ({ data: Array.from({ length: count }, (_, id) => ({ id: `m${id}` })) });
  assert.equal(read(entries(10_000))?.length, 10_000);
  assert.throws(() => read(entries(10_001)), /at most 10000/);
  assert.throws(() => read({ data: [{ id: "x".repeat(513) }] }), /longer than 512/);
});
