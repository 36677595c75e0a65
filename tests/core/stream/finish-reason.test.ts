import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Dialect } from "../../../core/contract/errors.ts";
import { finishReasonIn } from "../../../core/stream/finish-reason.ts";

const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
const choice = (index: number, reason: string | null, delta: object = {}) =>
  event({ id: "chatcmpl-1", choices: [{ index, delta, logprobs: null, finish_reason: reason, stop_reason: null }] });
const said = (content: string) => choice(0, null, { content });
const DONE = "data: [DONE]\n\n";

describe("the finish reason", () => {
  const cases: readonly (readonly [name: string, tail: string, reason: string, dialect?: Dialect])[] = [
    ["of a chat stream", said("a") + choice(0, "stop") + DONE, "stop"],
    ["of the first of several choices", choice(1, "stop") + choice(0, "length") + choice(2, "stop") + DONE, "length"],
    ["of another choice, where the first one's is not there", choice(1, "stop") + DONE, "stop"],
    ["of a completion", '{"choices":[{"index": 0, "text": "a", "finish_reason": "length"}], "usage": {}}', "length"],
    ["with tools", '{"choices":[{"index":0,"message":{"tool_calls":[]},"finish_reason":"tool_calls"}]}', "tool_calls"],
    [
      "of messages",
      event({ type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null } }),
      "end_turn",
      "anthropic",
    ],
    [
      "of a message whose tool got a reason",
      `{"content":[{"input":{"finish_reason":"x","stop_reason":"y"}}],"stop_reason":"tool_use"}`,
      "tool_use",
      "anthropic",
    ],
    ["of a response", '{"object":"response","output":[{"status":"incomplete"}],"status":"completed"}', "completed", "responses"],
    [
      "of a response that is incomplete",
      '{"incomplete_details":{"reason":"max_output_tokens"},"status":"incomplete"}',
      "max_output_tokens",
      "responses",
    ],
    ["of a stream that broke off", said("a"), ""],
    ["that only the text names", said('"finish_reason":"stop"'), ""],
    ["that is no word", '{"index":0,"finish_reason":"<b>"}', ""],
    ["that is far too long", `{"index":0,"finish_reason":"${"x".repeat(50)}"}`, ""],
    ["of nothing", "", ""],
  ];
  for (const [name, tail, reason, dialect = "openai"] of cases) {
    it(name, () => {
      // What stands behind the end is an older response's.
      const bytes = Buffer.from(`${tail}","finish_reason":"old","index":0`);
      assert.equal(finishReasonIn(bytes.subarray(0, Buffer.byteLength(tail)), dialect), reason);
    });
  }
});
