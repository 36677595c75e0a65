import type { Call, Choice, GenerationApi, Reply, StreamScript } from "../call.ts";
import { namedEvent, textOf, usageOf } from "../call.ts";
import type { JsonObject } from "../fields.ts";
import { cacheSalt, flag, optionalLimit, required, requiredList } from "../fields.ts";
import { invalidField } from "../problem.ts";
import { joined, type Token } from "../tokens.ts";
import { contentTokens, conversationTokens } from "./conversation.ts";

/** POST /v1/messages. */
export const messages: GenerationApi = {
  path: "/v1/messages",
  isAnthropic: true,
  hasTokenIdsOnly: false,
  read,
  answer,
  stream,
};

/** The prompt of a messages request; also used to count tokens only. */
export function messagesPrompt(body: JsonObject): number[] {
  // Unlike the other APIs, this one has no default model.
  if (required(body, "model") === "") throw invalidField("value_error", "body.model", "Value error, Model is required", "");
  return [...contentTokens(body["system"] ?? ""), ...conversationTokens(requiredList(body, "messages"), "body.messages")];
}

function read(body: JsonObject): Call {
  const prompt = messagesPrompt(body);
  required(body, "max_tokens");
  return {
    prompts: [prompt],
    samples: 1,
    maxTokens: optionalLimit(body, "max_tokens"),
    limitName: "max_completion_tokens",
    defaultMaxTokens: undefined,
    isStream: flag(body, "stream"),
    hasUsage: true,
    hasRunningUsage: false,
    cacheSalt: cacheSalt(body),
    body,
  };
}

function answer(reply: Reply): unknown {
  return {
    id: `chatcmpl-${reply.id}`,
    type: "message",
    role: "assistant",
    content: reply.choices.map((choice) => ({ type: "text", text: textOf(choice) })),
    model: reply.model,
    stop_reason: stopReason(reply.choices[0]),
    usage: messageUsage(reply),
  };
}

function stopReason(choice: Choice | undefined): string {
  return choice?.finish === "length" ? "max_tokens" : "end_turn";
}

/** Anthropic counts input tokens read from the cache, written to it, and others separately. */
function messageUsage(reply: Reply) {
  const usage = usageOf(reply);
  return {
    input_tokens: usage.prompt - usage.cached - usage.created,
    output_tokens: usage.completion,
    cache_creation_input_tokens: usage.created,
    cache_read_input_tokens: usage.cached,
  };
}

function stream(reply: Reply): StreamScript {
  let isStarted = false;

  function started(): string[] {
    if (isStarted) return [];
    isStarted = true;
    const message = {
      id: `chatcmpl-${reply.id}`,
      type: "message",
      role: "assistant",
      content: [],
      model: reply.model,
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: usageOf(reply).prompt, output_tokens: 0 },
    };
    const block = { type: "content_block_start", content_block: { type: "text", text: "" }, index: 0 };
    return [namedEvent({ type: "message_start", message }), namedEvent(block)];
  }

  return {
    opening: () => [],
    tokens: (_choice: Choice, tokens: readonly Token[]) => [
      ...started(),
      namedEvent({ type: "content_block_delta", delta: { type: "text_delta", text: joined(tokens) }, index: 0 }),
    ],
    closing: () => [
      namedEvent({ type: "content_block_stop", index: 0 }),
      namedEvent({
        type: "message_delta",
        delta: { stop_reason: stopReason(reply.choices[0]), stop_sequence: null },
        usage: messageUsage(reply),
      }),
      namedEvent({ type: "message_stop" }),
    ],
  };
}
