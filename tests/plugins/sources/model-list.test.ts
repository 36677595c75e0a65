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

describe("an entry that names no model is left out, and the others count", () => {
  const cases: readonly [name: string, entry: unknown, why: string][] = [
    ["a number as its id", { id: 1 }, 'entry 2 has no "id" that is a text'],
    ["null", null, 'entry 2 has no "id" that is a text'],
    ["a text", "b", 'entry 2 has no "id" that is a text'],
    ["a list", [], 'entry 2 has no "id" that is a text'],
    ["no id, but a parent", { parent: "a" }, 'entry 2 has no "id" that is a text'],
    ["an empty id", { id: "" }, 'entry 2 has no "id" that is a text'],
    ["a name that is too long", { id: "x".repeat(513) }, "entry 2 has a name longer than 512 characters"],
  ];
  for (const [name, entry, why] of cases) {
    it(name, () => {
      const body = JSON.stringify({ data: [{ id: "a", parent: null, root: "/a" }, entry, { id: "c", parent: "a" }, entry] });
      assert.deepEqual(
        { ...source.read(body, REPLICA), modelCards: undefined },
        {
          models: ["a", "c"],
          adapters: ["c"],
          modelCards: undefined,
          leftOut: `of 4 models in its list, 2 can't be used: ${why}`,
        },
      );
    });
  }
  it("of a list that is too long, its beginning counts", () => {
    const entries = (count: number) => ({ data: Array.from({ length: count }, (_, id) => ({ id: `m${id}` })) });
    assert.equal(source.read(JSON.stringify(entries(10_000)), REPLICA).leftOut, undefined);
    const { models, leftOut } = source.read(JSON.stringify(entries(10_002)), REPLICA);
    assert.deepEqual([models?.length, leftOut], [10_000, "of 10002 models in its list, 2 can't be used: at most 10000 are read"]);
  });
});

test("a list of which no name can be used is refused", () => {
  assert.throws(() => read({ data: [{ id: "x".repeat(513) }] }), /longer than 512/);
});
