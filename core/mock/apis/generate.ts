import type { Call, Choice, GenerationApi, Reply, StreamScript } from "../call.ts";
import { DONE_EVENT, dataEvent, openaiUsage, streamUsage } from "../call.ts";
import type { JsonObject } from "../fields.ts";
import {
  cacheSalt,
  flag,
  isObject,
  optionalLimit,
  required,
  requiredList,
  sampleCount,
  streamOptions,
  tokenIds,
} from "../fields.ts";
import { invalidField } from "../problem.ts";
import type { Token } from "../tokens.ts";

/** POST /inference/v1/generate: token ids in, token ids out. */
export const generate: GenerationApi = {
  path: "/inference/v1/generate",
  isAnthropic: false,
  hasTokenIdsOnly: true,
  read,
  answer,
  stream,
};

function read(body: JsonObject): Call {
  const prompt = tokenIds(requiredList(body, "token_ids"), "body.token_ids");
  const sampling = required(body, "sampling_params");
  if (!isObject(sampling))
    throw invalidField("model_type", "body.sampling_params", "Input should be a valid dictionary", sampling);
  return {
    prompts: [prompt],
    samples: sampleCount(sampling),
    maxTokens: optionalLimit(sampling, "max_tokens"),
    limitName: undefined,
    defaultMaxTokens: 16,
    isStream: flag(body, "stream"),
    ...streamOptions(body),
    cacheSalt: cacheSalt(body),
    // This API reads sampling parameters only from this object, not from the top level.
    body: sampling,
  };
}

function choiceBody(choice: Choice, ids: readonly number[], isLast: boolean) {
  return {
    index: choice.index,
    finish_reason: isLast ? choice.finish : null,
    stop_reason: null,
    token_ids: ids,
    routed_experts: null,
    sampling_mask: null,
    weight_versions: isLast ? [{ version: "default", start: 0, end: choice.sent }] : null,
    logprobs: null,
  };
}

function answer(reply: Reply): unknown {
  return {
    request_id: `generate-tokens-${reply.id}`,
    model: reply.model,
    created: reply.createdS,
    usage: openaiUsage(reply, null),
    prompt_logprobs: null,
    prompt_token_id_logprobs: null,
    prompt_token_ids: null,
    mm_placeholders: null,
    metrics: null,
    kv_transfer_params: null,
    ec_transfer_params: null,
    output_mode: "tokens",
    choices: reply.choices.map((choice) =>
      choiceBody(
        choice,
        choice.tokens.slice(0, choice.sent).map((token) => token.id),
        true,
      ),
    ),
  };
}

function stream(reply: Reply): StreamScript {
  const head = { request_id: `generate-tokens-${reply.id}`, output_mode: "tokens" };
  return {
    opening: () => [],
    tokens: (choice: Choice, tokens: readonly Token[], isLast: boolean) => [
      dataEvent({
        ...head,
        usage: null,
        choices: [
          choiceBody(
            choice,
            tokens.map(({ id }) => id),
            isLast,
          ),
        ],
      }),
    ],
    closing: () => [...(reply.call.hasUsage ? [dataEvent({ ...head, usage: streamUsage(reply), choices: [] })] : []), DONE_EVENT],
  };
}
