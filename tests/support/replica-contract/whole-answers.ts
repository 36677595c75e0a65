import assert from "node:assert/strict";
import type { Json, ReplicaAssertion } from "./checks.ts";
import {
  count,
  fields,
  list,
  MAX_TOKENS,
  MESSAGES,
  MESSAGES_OF_PARTS,
  object,
  openaiUsage,
  postJson,
  REQUESTS,
  targets,
  text,
} from "./checks.ts";

/** One row per generation API: the answer as a whole. */
export const wholeAnswerRows: readonly ReplicaAssertion[] = [
  {
    name: "completions: the whole answer, under the name of the target",
    needs: "generate",
    async run(baseUrl, names) {
      for (const model of targets(names)) {
        const answer = await postJson(baseUrl, REQUESTS.completions.path, { ...REQUESTS.completions.body, model });
        fields(answer, {
          id: "string",
          object: ["text_completion"],
          created: "number",
          model: [model],
          system_fingerprint: "string",
        });
        const [choice] = list(answer["choices"], "choices");
        fields(choice ?? {}, { index: [0], text: "string", finish_reason: "string", logprobs: [null], stop_reason: [null] });
        openaiUsage(answer["usage"]);
      }
    },
  },
  {
    name: "chat completions: text and parts, both token limits",
    needs: "generate",
    async run(baseUrl, names) {
      const variants = [
        { messages: MESSAGES, max_tokens: 4 },
        { messages: MESSAGES_OF_PARTS, max_completion_tokens: 4 },
      ];
      for (const variant of variants) {
        const answer = await postJson(baseUrl, REQUESTS.chat.path, { ...variant, model: names.base, temperature: 0 });
        fields(answer, { id: "string", object: ["chat.completion"], created: "number", model: [names.base] });
        const [choice] = list(answer["choices"], "choices");
        fields(choice ?? {}, { index: [0], finish_reason: ["length"], logprobs: [null], stop_reason: [null] });
        fields(object(choice?.["message"], "message"), { role: ["assistant"], content: "string" });
        openaiUsage(answer["usage"]);
        assert.equal(object(answer["usage"], "usage")["completion_tokens"], 4);
      }
    },
  },
  {
    name: "responses: the whole answer",
    needs: "generate",
    async run(baseUrl, names) {
      for (const model of targets(names)) {
        const answer = await postJson(baseUrl, REQUESTS.responses.path, { ...REQUESTS.responses.body, model });
        responseObject(answer, model);
      }
    },
  },
  {
    name: "messages: the whole answer",
    needs: "generate",
    async run(baseUrl, names) {
      for (const model of targets(names)) {
        const answer = await postJson(baseUrl, REQUESTS.messages.path, { ...REQUESTS.messages.body, model });
        fields(answer, { id: "string", type: ["message"], role: ["assistant"], model: [model], stop_reason: "string" });
        const [block] = list(answer["content"], "content");
        fields(block ?? {}, { type: ["text"], text: "string" });
        const usage = object(answer["usage"], "usage");
        count(usage["input_tokens"], "input_tokens");
        count(usage["output_tokens"], "output_tokens");
      }
    },
  },
  {
    name: "generate: token ids in, token ids out",
    needs: "generate",
    async run(baseUrl, names) {
      for (const model of targets(names)) {
        const answer = await postJson(baseUrl, REQUESTS.generate.path, { ...REQUESTS.generate.body, model });
        text(answer["request_id"], "request_id");
        const [choice] = list(answer["choices"], "choices");
        fields(choice ?? {}, { index: [0], logprobs: [null], finish_reason: "string" });
        for (const id of list(choice?.["token_ids"], "token_ids")) count(id, "token id");
      }
    },
  },
];

/** A finished response of the Responses API. */
export function responseObject(answer: Json, model: string): void {
  fields(answer, { id: "string", object: ["response"], created_at: "number", model: [model], max_output_tokens: [MAX_TOKENS] });
  if (answer["status"] === "incomplete") assert.deepEqual(answer["incomplete_details"], { reason: "max_output_tokens" });
  else assert.equal(answer["status"], "completed");
  const [item] = list(answer["output"], "output");
  fields(item ?? {}, { id: "string", type: ["message"], role: ["assistant"], status: ["completed"] });
  const [part] = list(item?.["content"], "content");
  fields(part ?? {}, { type: ["output_text"], text: "string", annotations: [[]] });
  const usage = object(answer["usage"], "usage");
  const input = count(usage["input_tokens"], "input_tokens");
  assert.equal(usage["total_tokens"], input + count(usage["output_tokens"], "output_tokens"));
}
