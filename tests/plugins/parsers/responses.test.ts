import assert from "node:assert/strict";
import { test } from "node:test";
import responses from "../../../plugins/parsers/responses.ts";
import { createPlugin } from "../../support/plugins.ts";
import { parseWith } from "./parse-with.ts";

test("instructions, tools and input, in that order", () => {
  const parsed = parseWith(responses, '{"input":"hi","tools":[],"instructions":"Be brief","model":"m","max_output_tokens":9}');
  assert.deepEqual(parsed.prompts, ['"Be brief"', "[]", '"hi"']);
  assert.equal(parsed.maxOutputTokens, 9);
});

test("only a response that is not stored may be delivered twice", () => {
  const isRepeatable = (store: string) => parseWith(responses, `{"model":"m","input":"hi"${store}}`).isRepeatable;
  assert.equal(isRepeatable(""), false);
  assert.equal(isRepeatable(',"store":true'), false);
  assert.equal(isRepeatable(',"store":false'), true);
});

test("what continues a stored response is a follow-up", () => {
  const isFollowUp = (previous: string) => parseWith(responses, `{"model":"m","input":"hi"${previous}}`).isFollowUp;
  assert.equal(isFollowUp(""), false);
  assert.equal(isFollowUp(',"previous_response_id":null'), false);
  assert.equal(isFollowUp(',"previous_response_id":"resp_1"'), true);
});

test("its route and dialect", () => {
  const { routes, dialect } = createPlugin(responses);
  assert.deepEqual(routes, [{ method: "POST", path: "/v1/responses" }]);
  assert.equal(dialect, "responses");
});
