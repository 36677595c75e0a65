import assert from "node:assert/strict";
import { test } from "node:test";
import { createPlugin, makeBody } from "signalbox/test-kit";
import plugin from "./plugin.ts";

const parser = createPlugin(plugin);
const parse = (body: unknown) => parser.parse(makeBody(body, parser), "/v1/rerank", "");

const cases = [
  { name: "a whole request", body: { model: "m", query: "soup", documents: ["a", "b"] }, model: "m", tokens: 4 },
  { name: "one without a model", body: { query: "soup" }, model: "", tokens: 2 },
];
for (const { name, body, model, tokens } of cases)
  test(name, () => {
    const parsed = parse(body);
    assert.deepEqual([parsed.model, parsed.promptTokens], [model, tokens]);
  });

test("knows where the model's name is, so that another can be put there", () => {
  const { modelSpan: span } = parse({ query: "soup", model: "m" });
  assert.equal(JSON.stringify({ query: "soup", model: "m" }).slice(...span), '"m"');
});

test("refuses a model that is no text", () => assert.throws(() => parse({ model: 1, query: "soup" }), /"model"/));
