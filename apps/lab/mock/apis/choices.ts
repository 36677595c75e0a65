import {
  type Choice,
  DONE_EVENT,
  dataEvent,
  FINGERPRINT,
  type GenerationApi,
  nulls,
  openaiUsage,
  type Reply,
  runningUsage,
  type StreamScript,
  streamUsage,
  textOf,
  usageOf,
} from "../call.ts";
import { type Dictated, dictatedCall, dictatedJson, lastWordsOf, type ToolChoice, toolsOf } from "../dictated.ts";
import {
  isObject,
  type JsonObject,
  optionalLimit,
  promptList,
  required,
  requiredList,
  sampleCount,
  streamOptions,
  tokenIds,
} from "../fields.ts";
import { badRequest, invalidField } from "../problem.ts";
import { joined, type Token, tokenize } from "../tokens.ts";
import { conversationTokens } from "./conversation.ts";
import { chatLogprobs, textLogprobs } from "./logprobs.ts";

// The APIs whose responses have choices.

/** POST /v1/completions. */
export const completions: GenerationApi = {
  path: "/v1/completions",
  read: (body) => ({
    prompts: promptsOf(body["prompt"] ?? undefined),
    samples: sampleCount(body),
    maxTokens: optionalLimit(body, "max_tokens"),
    limitName: "max_tokens",
    defaultMaxTokens: 16,
    ...streamOptions(body),
  }),
  answer: (reply) => ({
    ...headOf(reply, "cmpl", "text_completion"),
    choices: reply.choices.map((choice) => ({
      index: choice.index,
      text: textOf(choice),
      logprobs: textLogprobs(reply.call.body, choice.tokens.slice(0, choice.sent), 0),
      finish_reason: choice.finish,
      ...nulls("stop_reason", "token_ids", "prompt_logprobs", "prompt_token_ids", "routed_experts"),
    })),
    service_tier: null,
    system_fingerprint: FINGERPRINT,
    usage: openaiUsage(reply, null),
    kv_transfer_params: reply.transferParams,
    ...nulls("ec_transfer_params", "metrics"),
  }),
  stream: (reply) =>
    chunks(reply, headOf(reply, "cmpl", "text_completion"), (choice, tokens, isLast) => ({
      index: choice.index,
      text: joined(tokens),
      logprobs: textLogprobs(reply.call.body, tokens, joined(choice.tokens.slice(0, choice.sent - tokens.length)).length),
      finish_reason: isLast ? choice.finish : null,
      ...nulls("stop_reason", "prompt_token_ids", "token_ids"),
    })),
};

/** POST /v1/chat/completions. */
export const chatCompletions: GenerationApi = {
  path: "/v1/chat/completions",
  read(body) {
    const messages = requiredList(body, "messages");
    if (messages.length === 0)
      throw badRequest("Cannot apply chat template to an empty conversation. Provide at least one message.");
    const newLimit = optionalLimit(body, "max_completion_tokens");
    return {
      prompts: [conversationTokens(messages, "body.messages")],
      samples: sampleCount(body),
      maxTokens: newLimit ?? optionalLimit(body, "max_tokens"),
      limitName: newLimit === undefined ? "max_tokens" : "max_completion_tokens",
      dictated: dictatedChat(body),
      ...streamOptions(body),
    };
  },
  answer: (reply) => ({
    ...headOf(reply, "chatcmpl", "chat.completion"),
    choices: reply.choices.map((choice) => ({
      index: choice.index,
      message: messageOf(reply, choice),
      logprobs: chatLogprobs(reply.call.body, choice.tokens.slice(0, choice.sent)),
      finish_reason: chatFinish(reply, choice),
      ...nulls("stop_reason", "token_ids", "routed_experts"),
    })),
    service_tier: null,
    system_fingerprint: FINGERPRINT,
    usage: openaiUsage(reply, usageOf(reply).created),
    kv_transfer_params: reply.transferParams,
    ...nulls("prompt_logprobs", "prompt_token_ids", "prompt_text", "ec_transfer_params", "metrics"),
  }),
  stream(reply) {
    const head = headOf(reply, "chatcmpl", "chat.completion.chunk");
    const choiceOf = (choice: Choice, tokens: readonly Token[], isLast: boolean) => {
      const end = isLast ? { finish_reason: chatFinish(reply, choice), stop_reason: null } : { finish_reason: null };
      const delta = choice.tool === "" ? { content: joined(tokens) } : { tool_calls: [callDelta(reply, choice, tokens)] };
      return { index: choice.index, delta, logprobs: chatLogprobs(reply.call.body, tokens), ...end, token_ids: null };
    };
    // vLLM sends the role of every choice with the first token of any choice.
    const roles = () =>
      reply.choices.map(({ index }) => {
        const choices = [{ index, delta: { role: "assistant", content: "" }, logprobs: null, finish_reason: null }];
        return dataEvent({ ...head, choices, prompt_token_ids: null, prompt_text: null });
      });
    return {
      ...chunks(reply, head, choiceOf, true),
      first: roles,
      failing: (error) => [...roles(), dataEvent(error), DONE_EVENT],
    };
  },
};

/** POST /inference/v1/generate: token ids in, token ids out. */
export const generate: GenerationApi = {
  path: "/inference/v1/generate",
  hasTokenIdsOnly: true,
  read(body) {
    const prompt = tokenIds(requiredList(body, "token_ids"), "body.token_ids");
    const sampling = required(body, "sampling_params");
    if (!isObject(sampling))
      throw invalidField("model_type", "body.sampling_params", "Input should be a valid dictionary", sampling);
    return {
      prompts: [prompt],
      samples: sampleCount(sampling),
      maxTokens: optionalLimit(sampling, "max_tokens"),
      defaultMaxTokens: 16,
      ...streamOptions(body),
      // This API reads sampling parameters only from this object, not from the top level.
      body: sampling,
    };
  },
  answer: (reply) => ({
    request_id: `generate-tokens-${reply.id}`,
    model: reply.model,
    created: reply.createdS,
    usage: openaiUsage(reply, null),
    ...nulls("prompt_logprobs", "prompt_token_id_logprobs", "prompt_token_ids", "mm_placeholders", "metrics"),
    kv_transfer_params: reply.transferParams,
    ec_transfer_params: null,
    output_mode: "tokens",
    choices: reply.choices.map((choice) => idChoice(choice, choice.tokens.slice(0, choice.sent), true)),
  }),
  stream(reply) {
    const head = { request_id: `generate-tokens-${reply.id}`, output_mode: "tokens" };
    return {
      tokens: (choice, tokens, isLast) => [dataEvent({ ...head, usage: null, choices: [idChoice(choice, tokens, isLast)] })],
      closing: () => [
        ...(reply.call.hasUsage ? [dataEvent({ ...head, usage: streamUsage(reply), choices: [] })] : []),
        DONE_EVENT,
      ],
    };
  },
};

/** Accepts one text, several texts, one list of ids or several lists of ids. */
function promptsOf(prompt: unknown): readonly (readonly number[])[] {
  if (typeof prompt === "string" && prompt !== "") return [tokenize(prompt)];
  if (prompt === undefined || prompt === "" || (Array.isArray(prompt) && prompt.length === 0))
    throw badRequest("Either prompt or prompt_embeds must be provided and non-empty.", "prompt");
  if (!Array.isArray(prompt)) throw invalidField("list_type", "body.prompt", "Input should be a valid list", prompt);
  return promptList(prompt, "body.prompt");
}

/** The fields of vLLM 0.32, then two of earlier versions. */
function messageOf(reply: Reply, choice: Choice) {
  const unused = nulls("refusal", "annotations", "audio", "function_call", "reasoning", "reasoning_content");
  const text = textOf(choice);
  if (choice.tool === "") return { role: "assistant", content: text, ...unused, tool_calls: [] };
  const call = { id: callId(reply, choice), type: "function", function: { name: choice.tool, arguments: text } };
  return { role: "assistant", content: null, ...unused, tool_calls: [call] };
}

const callId = ({ itemId }: Reply, { index }: Choice) => `chatcmpl-tool-${itemId}${index === 0 ? "" : `-${index}`}`;

/** The first one brings the name. */
function callDelta(reply: Reply, choice: Choice, tokens: readonly Token[]) {
  const piece = joined(tokens);
  if (choice.sent > tokens.length) return { index: 0, function: { arguments: piece } };
  return { index: 0, id: callId(reply, choice), type: "function", function: { name: choice.tool, arguments: piece } };
}

/** Where the client named the tool itself, the model has just stopped. */
function chatFinish({ call }: Reply, { finish, tool }: Choice): string {
  return finish === "stop" && tool !== "" && call.dictated?.isNamed !== true ? "tool_calls" : finish;
}

function dictatedChat(body: JsonObject): Dictated | undefined {
  const tools = toolsOf(body, ({ function: described }) =>
    isObject(described) ? [described["name"], described["parameters"]] : [undefined, undefined],
  );
  const call = dictatedCall(tools, chatToolChoice(body["tool_choice"]), lastWordsOf(body["messages"]));
  const format = isObject(body["response_format"]) ? body["response_format"] : {};
  const described = isObject(format["json_schema"]) ? format["json_schema"] : {};
  return call ?? dictatedJson(format["type"], described["schema"]);
}

function chatToolChoice(choice: unknown): ToolChoice {
  if (choice === "none") return choice;
  if (choice === "required") return "any";
  const named = isObject(choice) && isObject(choice["function"]) ? choice["function"]["name"] : undefined;
  return typeof named === "string" ? { name: named } : "auto";
}

function idChoice(choice: Choice, tokens: readonly Token[], isLast: boolean) {
  return {
    index: choice.index,
    finish_reason: isLast ? choice.finish : null,
    stop_reason: null,
    token_ids: tokens.map(({ id }) => id),
    ...nulls("routed_experts", "sampling_mask"),
    weight_versions: isLast ? [{ version: "default", start: 0, end: choice.sent }] : null,
    logprobs: null,
  };
}

const headOf = ({ id, createdS, model }: Reply, prefix: string, object: string) => ({
  id: `${prefix}-${id}`,
  object,
  created: createdS,
  model,
});

/** A stream with a chunk for every event; `hasCreated`: its usage tells of tokens that are newly cached. */
function chunks(
  reply: Reply,
  head: object,
  choiceOf: (choice: Choice, tokens: readonly Token[], isLast: boolean) => object,
  hasCreated = false,
): StreamScript {
  const { hasUsage, hasRunningUsage } = reply.call;
  const chunk = (choices: readonly object[], usage: object | undefined, isEnd: boolean) =>
    dataEvent({ ...head, choices, ...(usage && { usage }), ...(isEnd && { system_fingerprint: FINGERPRINT }) });
  return {
    tokens: (choice, tokens, isLast) => [
      chunk([choiceOf(choice, tokens, isLast)], hasRunningUsage ? runningUsage(choice) : undefined, isLast && !hasUsage),
    ],
    closing: () => [...(hasUsage ? [chunk([], streamUsage(reply, hasCreated), true)] : []), DONE_EVENT],
  };
}
