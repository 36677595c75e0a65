import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { readJsonBody } from "../../core/body/json-body.ts";
import { assertShape } from "../../core/contract/response-shape.ts";
import type { Span } from "../../core/contract/span.ts";
import { builtInsOf } from "./pools.ts";

const PROMPTS = [
  '"text"',
  '""',
  "[]",
  "{}",
  "[1,2,3]",
  "[[1],[2,3]]",
  '["a","b"]',
  '[{"role":"user","content":"hi"}]',
  '[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x"}},{"image_url":"data:,"}]}]',
  "null",
  "7",
  "true",
];
const ROUTING_KEYS = new Set([
  "model",
  "n",
  "stream",
  "cache_salt",
  "store",
  "previous_response_id",
  "conversation",
  "max_tokens",
  "max_completion_tokens",
  "max_output_tokens",
]);

const utf8 = new TextEncoder();
const text = new TextDecoder();

for (const [type, create] of builtInsOf("parser")) {
  const parser = create();
  const path = parser.routes[0]?.path ?? "";
  const bodyOf = (json: string) => readJsonBody(utf8.encode(json), parser, 64);

  describe(`the parser ${type}`, () => {
    it("has routes", () => {
      assert.ok(parser.routes.length > 0);
      for (const { method, path } of parser.routes) assert.match(`${method} ${path}`, /^[A-Z]+ \/[\w/.{}-]+$/);
    });

    if (parser.keys.length === 0) {
      it("reads nothing", () => assert.equal(parser.parse(bodyOf("{}"), path, "").model, ""));
      return;
    }

    it("says of each path what its responses have", () => {
      const { responses } = parser;
      // One that says nothing of them serves paths of any kind.
      if (responses === undefined) return;
      assert.deepEqual(
        Object.keys(responses),
        parser.routes.map((route) => route.path),
      );
      for (const shape of Object.values(responses)) assertShape(shape);
    });

    // What is stored is asked for without one.
    if (!parser.keys.includes("model")) return;

    it("finds its prompt and model, and leaves the body as it is", () => {
      for (const prompt of PROMPTS) {
        const prompts = parser.keys.filter((key) => !ROUTING_KEYS.has(key)).map((key) => `"${key}":${prompt}`);
        const json = `{${prompts.join(",")},"other":[{"model":"no"}],"model":"the \\"model\\""}`;
        const body = bodyOf(json);
        const parsed = parser.parse(body, path, "");
        const textAt = ([start, end]: Span) => text.decode(body.bytes.subarray(start, end));
        assert.equal(parsed.model, 'the "model"', prompt);
        assert.equal(textAt(parsed.modelSpan), '"the \\"model\\""', prompt);
        for (const span of parsed.promptSpans) assert.equal(textAt(span), prompt);
        for (const { span } of parsed.promptParts ?? []) {
          assert.ok(parsed.promptSpans.some(([start, end]) => span[0] > start && span[1] < end));
        }
        assert.ok(Number.isInteger(parsed.promptTokens) && parsed.promptTokens >= 0, prompt);
        assert.equal(text.decode(body.bytes), json);
      }
    });

    it("needs a model", () => {
      for (const json of ["{}", '{"model":null}', '{"model":""}', '{"model":1}']) {
        assert.throws(() => parser.parse(bodyOf(json), path, ""), { code: "missing_model" });
      }
    });
  });
}

test("no two parsers serve the same route", () => {
  const routes = builtInsOf("parser").flatMap(([, create]) => create().routes.map(({ method, path }) => `${method} ${path}`));
  assert.equal(new Set(routes).size, routes.length);
});
