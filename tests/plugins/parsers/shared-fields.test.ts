import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import chatCompletions from "../../../plugins/parsers/chat-completions.ts";
import completions from "../../../plugins/parsers/completions.ts";
import embeddings from "../../../plugins/parsers/embeddings.ts";
import generate from "../../../plugins/parsers/generate.ts";
import { createPlugin } from "../../support/plugins.ts";
import { parseWith } from "./parse-with.ts";

const parse = (json: string) => parseWith(completions, json);

describe("the model", () => {
  it("is read with its span, quotes included", () => {
    const parsed = parse('{ "prompt":"hi", "model" : "a\\u0062c" }');
    assert.equal(parsed.model, "abc");
    assert.deepEqual(parsed.modelSpan, [27, 37]);
  });

  for (const body of [
    "{}",
    '{"model":""}',
    '{"model":null}',
    '{"model":7}',
    '{"model":["m"]}',
    '{"model":{"model":"m"}}',
    '{"nested":{"model":"m"}}',
  ]) {
    it(`is missing in ${body}`, () => {
      assert.throws(() => parse(body), { name: "RouterError", code: "missing_model", message: /^Set "model" to / });
    });
  }
});

describe("stream, salt and limit", () => {
  const cases: readonly [json: string, isStream: boolean, cacheSalt: string, maxOutputTokens: number][] = [
    ['{"model":"m"}', false, "", 0],
    ['{"model":"m","stream":true,"cache_salt":"s","max_tokens":16}', true, "s", 16],
    ['{"model":"m","stream":null,"cache_salt":null,"max_tokens":null}', false, "", 0],
    ['{"model":"m","max_tokens":-1}', false, "", 0],
  ];
  for (const [json, isStream, cacheSalt, maxOutputTokens] of cases) {
    it(json, () => {
      const parsed = parse(json);
      assert.deepEqual([parsed.isStream, parsed.cacheSalt, parsed.maxOutputTokens], [isStream, cacheSalt, maxOutputTokens]);
    });
  }

  it("are refused if no engine could read them", () => {
    assert.throws(() => parse('{"model":"m","stream":"x"}'), { code: "invalid_value" });
    assert.throws(() => parse('{"model":"m","max_tokens":"many"}'), { code: "invalid_value" });
    assert.throws(() => parse('{"model":"m","cache_salt":1}'), { code: "invalid_value" });
  });
});

describe("the prompt", () => {
  const cases: readonly [prompt: string, tokens: number][] = [
    ['"12345678"', 3],
    ['""', 1],
    ['["1234","5678"]', 4],
    ["[1,22,333]", 3],
    ["[[1,22],[333,4,5]]", 5],
    ["[ 15339 , 1917 ]", 2],
    ['"日本語です"', 5],
  ];
  for (const [prompt, tokens] of cases) {
    it(`${prompt} is about ${tokens} tokens`, () => {
      const parsed = parse(`{"prompt":${prompt},"model":"m"}`);
      assert.deepEqual(parsed.prompts, [prompt]);
      assert.equal(parsed.promptTokens, tokens);
    });
  }

  for (const prompt of ["null", "5", "true"]) {
    it(`${prompt} is no prompt`, () => {
      const parsed = parse(`{"prompt":${prompt},"model":"m"}`);
      assert.deepEqual([parsed.promptSpans, parsed.promptTokens], [[], 0]);
    });
  }

  it("has more tokens with more text", () => {
    const parsed = parse(`{"prompt":"${"x".repeat(3998)}","model":"m"}`);
    assert.equal(parsed.promptTokens, 1000);
  });
});

test("routes and dialects", () => {
  const routesOf = [completions, chatCompletions, embeddings, generate].map((definition) => {
    const { routes, dialect } = createPlugin(definition);
    return [...routes.map(({ method, path }) => `${method} ${path}`), dialect];
  });
  assert.deepEqual(routesOf, [
    ["POST /v1/completions", "openai"],
    ["POST /v1/chat/completions", "openai"],
    ["POST /v1/embeddings", "openai"],
    ["POST /inference/v1/generate", "openai"],
  ]);
});
