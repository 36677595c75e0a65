import type { Call, Choice, GenerationApi, Reply, StreamScript } from "../call.ts";
import { DONE_EVENT, dataEvent, FINGERPRINT, openaiUsage, runningUsage, streamUsage, textOf, usageOf } from "../call.ts";
import type { JsonObject } from "../fields.ts";
import { cacheSalt, flag, optionalLimit, requiredList, sampleCount, streamOptions } from "../fields.ts";
import { badRequest } from "../problem.ts";
import { joined, type Token } from "../tokens.ts";
import { conversationTokens } from "./conversation.ts";

/** POST /v1/chat/completions. */
export const chatCompletions: GenerationApi = {
  path: "/v1/chat/completions",
  isAnthropic: false,
  hasTokenIdsOnly: false,
  read,
  answer,
  stream,
};

function read(body: JsonObject): Call {
  const messages = requiredList(body, "messages");
  if (messages.length === 0)
    throw badRequest("Cannot apply chat template to an empty conversation. Provide at least one message.");
  const newLimit = optionalLimit(body, "max_completion_tokens");
  return {
    prompts: [conversationTokens(messages, "body.messages")],
    samples: sampleCount(body),
    maxTokens: newLimit ?? optionalLimit(body, "max_tokens"),
    limitName: newLimit === undefined ? "max_tokens" : "max_completion_tokens",
    defaultMaxTokens: undefined,
    isStream: flag(body, "stream"),
    ...streamOptions(body),
    cacheSalt: cacheSalt(body),
    body,
  };
}

/** The fields of vLLM 0.32, then two of earlier versions. */
function messageOf(content: string) {
  const unused = { refusal: null, annotations: null, audio: null, function_call: null, reasoning: null };
  return { role: "assistant", content, ...unused, reasoning_content: null, tool_calls: [] };
}

function answer(reply: Reply): unknown {
  return {
    id: `chatcmpl-${reply.id}`,
    object: "chat.completion",
    created: reply.createdS,
    model: reply.model,
    choices: reply.choices.map((choice) => ({
      index: choice.index,
      message: messageOf(textOf(choice)),
      logprobs: null,
      finish_reason: choice.finish,
      stop_reason: null,
      token_ids: null,
      routed_experts: null,
    })),
    service_tier: null,
    system_fingerprint: FINGERPRINT,
    usage: openaiUsage(reply, usageOf(reply).created),
    prompt_logprobs: null,
    prompt_token_ids: null,
    prompt_text: null,
    kv_transfer_params: null,
    ec_transfer_params: null,
    metrics: null,
  };
}

function stream(reply: Reply): StreamScript {
  const head = {
    id: `chatcmpl-${reply.id}`,
    object: "chat.completion.chunk",
    created: reply.createdS,
    model: reply.model,
  };
  const { hasUsage, hasRunningUsage } = reply.call;
  const usage = (choice: Choice) => (hasRunningUsage ? { usage: runningUsage(choice) } : {});
  let isRoleSent = false;

  /** vLLM sends the role of every choice with the first token of any choice. */
  function roles(): string[] {
    if (isRoleSent) return [];
    isRoleSent = true;
    return reply.choices.map((choice) => {
      const delta = { role: "assistant", content: "" };
      const choices = [{ index: choice.index, delta, logprobs: null, finish_reason: null }];
      return dataEvent({ ...head, choices, prompt_token_ids: null, prompt_text: null });
    });
  }

  function chunk(choice: Choice, tokens: readonly Token[], isLast: boolean): string {
    const end = isLast ? { finish_reason: choice.finish, stop_reason: null } : { finish_reason: null };
    const choices = [{ index: choice.index, delta: { content: joined(tokens) }, logprobs: null, ...end, token_ids: null }];
    return dataEvent({ ...head, choices, ...usage(choice), ...(isLast && !hasUsage ? { system_fingerprint: FINGERPRINT } : {}) });
  }

  return {
    opening: () => [],
    tokens: (choice, tokens, isLast) => [...roles(), chunk(choice, tokens, isLast)],
    closing: () => [
      ...(hasUsage
        ? [dataEvent({ ...head, choices: [], usage: streamUsage(reply, true), system_fingerprint: FINGERPRINT })]
        : []),
      DONE_EVENT,
    ],
  };
}
