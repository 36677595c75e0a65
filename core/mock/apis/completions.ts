import type { Call, Choice, GenerationApi, Reply, StreamScript } from "../call.ts";
import { DONE_EVENT, dataEvent, FINGERPRINT, openaiUsage, runningUsage, streamUsage, textOf } from "../call.ts";
import type { JsonObject } from "../fields.ts";
import { cacheSalt, flag, optionalLimit, sampleCount, streamOptions, tokenIds } from "../fields.ts";
import { badRequest, invalidField } from "../problem.ts";
import type { Token } from "../tokens.ts";
import { joined, tokenize } from "../tokens.ts";

/** POST /v1/completions. */
export const completions: GenerationApi = {
  path: "/v1/completions",
  isAnthropic: false,
  hasTokenIdsOnly: false,
  read,
  answer,
  stream,
};

function read(body: JsonObject): Call {
  return {
    prompts: promptsOf(body["prompt"] ?? undefined),
    samples: sampleCount(body),
    maxTokens: optionalLimit(body, "max_tokens"),
    limitName: "max_tokens",
    defaultMaxTokens: 16,
    isStream: flag(body, "stream"),
    ...streamOptions(body),
    cacheSalt: cacheSalt(body),
    body,
  };
}

/** Accepts one text, several texts, one list of ids or several lists of ids. */
function promptsOf(prompt: unknown): readonly (readonly number[])[] {
  if (typeof prompt === "string" && prompt !== "") return [tokenize(prompt)];
  if (prompt === undefined || prompt === "" || (Array.isArray(prompt) && prompt.length === 0)) {
    throw badRequest("Either prompt or prompt_embeds must be provided and non-empty.", "prompt");
  }
  if (!Array.isArray(prompt)) throw invalidField("list_type", "body.prompt", "Input should be a valid list", prompt);
  if (typeof prompt[0] === "number") return [tokenIds(prompt, "body.prompt")];
  return prompt.map((entry: unknown) => {
    if (typeof entry === "string") return tokenize(entry);
    if (Array.isArray(entry)) return tokenIds(entry, "body.prompt");
    throw invalidField("string_type", "body.prompt", "Input should be a valid string", entry);
  });
}

function answer(reply: Reply): unknown {
  return {
    id: `cmpl-${reply.id}`,
    object: "text_completion",
    created: reply.createdS,
    model: reply.model,
    choices: reply.choices.map((choice) => ({
      index: choice.index,
      text: textOf(choice),
      logprobs: null,
      finish_reason: choice.finish,
      stop_reason: null,
      token_ids: null,
      prompt_logprobs: null,
      prompt_token_ids: null,
      routed_experts: null,
    })),
    service_tier: null,
    system_fingerprint: FINGERPRINT,
    usage: openaiUsage(reply, null),
    kv_transfer_params: null,
    ec_transfer_params: null,
    metrics: null,
  };
}

function stream(reply: Reply): StreamScript {
  const head = { id: `cmpl-${reply.id}`, object: "text_completion", created: reply.createdS, model: reply.model };
  const { hasUsage, hasRunningUsage } = reply.call;
  return {
    opening: () => [],
    tokens: (choice: Choice, tokens: readonly Token[], isLast: boolean) => [
      dataEvent({
        ...head,
        choices: [
          {
            index: choice.index,
            text: joined(tokens),
            logprobs: null,
            finish_reason: isLast ? choice.finish : null,
            stop_reason: null,
            prompt_token_ids: null,
            token_ids: null,
          },
        ],
        ...(hasRunningUsage ? { usage: runningUsage(choice) } : {}),
        ...(isLast && !hasUsage ? { system_fingerprint: FINGERPRINT } : {}),
      }),
    ],
    closing: () => [
      ...(hasUsage ? [dataEvent({ ...head, choices: [], usage: streamUsage(reply), system_fingerprint: FINGERPRINT })] : []),
      DONE_EVENT,
    ],
  };
}
