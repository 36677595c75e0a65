import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import modelList from "../../../plugins/sources/model-list.ts";
import { makeEndpoint } from "../../support/endpoints.ts";
import { createPlugin } from "../../support/plugins.ts";

const REPLICA = makeEndpoint(0);
const source = createPlugin(modelList);
const read = (list: unknown) => source.read(JSON.stringify(list), REPLICA).models;

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
    it(name, () => assert.deepEqual(source.read(JSON.stringify({ data }), REPLICA).adapters, adapters));
  }
});

describe("what the list says of them", () => {
  const cards = (data: readonly object[]) => source.read(JSON.stringify({ data }), REPLICA).modelCards;
  it("is the context, root and parent, as vLLM has them; an adapter has its base model's context", () => {
    const listed = cards([
      { id: "tiny", root: "/models/tiny", parent: null, max_model_len: 4096, created: 5 },
      { id: "a", root: "/adapters/a", parent: "tiny", max_model_len: null },
    ]);
    assert.deepEqual(Object.entries(listed ?? {}), [
      ["tiny", { contextTokens: 4096, root: "/models/tiny", parent: null }],
      ["a", { contextTokens: 4096, root: "/adapters/a", parent: "tiny" }],
    ]);
  });
  it("is nothing where it says nothing, or what can't be", () => {
    assert.equal(cards([{ id: "m" }]), undefined);
    for (const max_model_len of [0, -1, 1.5, "4096", 1e300]) assert.equal(cards([{ id: "m", max_model_len }]), undefined);
    for (const root of [7, "x".repeat(5_000)]) assert.equal(cards([{ id: "m", root }]), undefined);
  });
  it("takes any name", () => {
    const listed = cards([{ id: "__proto__", root: "/p" }, { id: "constructor" }]);
    assert.deepEqual(Object.entries(listed ?? {}), [
      ["__proto__", { root: "/p" }],
      ["constructor", {}],
    ]);
  });
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
    it(body || "(empty)", () => assert.throws(() => source.read(body, REPLICA), /GET \/v1\/models with \{"data"/));
});

test("a list that is too long, or has a name that is too long, is refused", () => {
  const entries = (count: number) => ({ data: Array.from({ length: count }, (_, id) => ({ id: `m${id}` })) });
  assert.equal(read(entries(10_000))?.length, 10_000);
  assert.throws(() => read(entries(10_001)), /at most 10000/);
  assert.throws(() => read({ data: [{ id: "x".repeat(513) }] }), /longer than 512/);
});
