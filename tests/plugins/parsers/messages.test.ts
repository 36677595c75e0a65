import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import messages from "../../../plugins/parsers/messages.ts";
import { createPlugin } from "../../support/plugins.ts";
import { parseWith } from "./parse-with.ts";

const promptsOf = (system: string) => parseWith(messages, `{"model":"m","messages":[],"system":${system},"tools":[]}`).prompts;

test("tools, system and messages, in that order", () => {
  assert.deepEqual(promptsOf('"Be brief"'), ["[]", '"Be brief"', "[]"]);
  assert.equal(parseWith(messages, '{"model":"m","max_tokens":12,"messages":[]}').maxOutputTokens, 12);
});

describe("a billing block in the system prompt", () => {
  const cases: readonly [name: string, system: string, spans: readonly string[]][] = [
    [
      "is cut out",
      '[{"type":"text","text":"x-anthropic-billing-header: v=1; h=a1b2;"},{"type":"text","text":"Be brief"}]',
      ['[{"type":"text","text":', '},{"type":"text","text":"Be brief"}]'],
    ],
    ["may hold escapes", '[{"text":"x-anthropic-billing-header: \\"a\\\\"}]', ['[{"text":', "}]"]],
    [
      "is not one where a text only quotes it",
      '[{"text":"\\"x-anthropic-billing-header\\""}]',
      ['[{"text":"\\"x-anthropic-billing-header\\""}]'],
    ],
    ["is not searched in a string", '"x-anthropic-billing-header"', ['"x-anthropic-billing-header"']],
    ["is not there", '[{"text":"Be brief"}]', ['[{"text":"Be brief"}]']],
  ];
  for (const [name, system, spans] of cases) it(name, () => assert.deepEqual(promptsOf(system), ["[]", ...spans, "[]"]));
});

test("a request to count tokens has no prompt that is computed or cached", () => {
  const image = '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}';
  const json = `{"model":"m","system":"Be brief","messages":[{"role":"user","content":[${image}]}]}`;
  const { model, prompts, promptTokens, promptParts } = parseWith(messages, json, "/v1/messages/count_tokens");
  assert.deepEqual([model, prompts, promptTokens, promptParts], ["m", [], 0, []]);
  assert.equal(parseWith(messages, json).promptParts?.length, 1);
});

test("its routes and dialect", () => {
  const { routes, dialect } = createPlugin(messages);
  assert.deepEqual(routes, [
    { method: "POST", path: "/v1/messages" },
    { method: "POST", path: "/v1/messages/count_tokens" },
  ]);
  assert.equal(dialect, "anthropic");
});
