import type { JsonObject } from "./fields.ts";
import type { Token } from "./tokens.ts";

/** What a request asks of the engine, whichever API it came through. */
export interface Call {
  readonly prompts: readonly (readonly number[])[];
  /** Replies per prompt. */
  readonly samples: number;
  /** The client's limit. */
  readonly maxTokens: number | undefined;
  /** The field a too large limit is blamed on; undefined where it is cut down silently. */
  readonly limitName: string | undefined;
  /** The limit where the client sets none. */
  readonly defaultMaxTokens: number | undefined;
  readonly isStream: boolean;
  readonly hasUsage: boolean;
  readonly hasRunningUsage: boolean;
  readonly cacheSalt: string;
  readonly body: JsonObject;
}

export type FinishReason = "length" | "stop";

/** One reply of possibly several; `sent` counts the tokens that have been computed. */
export interface Choice {
  readonly index: number;
  readonly prompt: readonly number[];
  readonly tokens: readonly Token[];
  readonly finish: FinishReason;
  sent: number;
  cachedTokens: number;
}

/** A request being answered: everything a response body or a stream event is made of. */
export interface Reply {
  /** From x-request-id, or made up. */
  readonly id: string;
  /** A second one, always made up, for the API that does not take the client's. */
  readonly itemId: string;
  readonly createdS: number;
  /** The base model or the adapter that serves it. */
  readonly model: string;
  readonly blockTokens: number;
  readonly call: Call;
  readonly choices: readonly Choice[];
}

/** One generation API: how its request is read and its answer is written. */
export interface GenerationApi {
  readonly path: string;
  readonly isAnthropic: boolean;
  /** True where bytes stand in for text, as the API has token ids only. */
  readonly hasTokenIdsOnly: boolean;
  /** Throws a Problem. */
  read(body: JsonObject): Call;
  answer(reply: Reply): unknown;
  stream(reply: Reply): StreamScript;
}

/** The events of one stream in the order they are due; each ends with its blank line. */
export interface StreamScript {
  /** Sent with the head, before the prompt is computed. */
  opening(): string[];
  /** One more token of a choice; the last one when `isLast`. */
  token(choice: Choice, token: Token, isLast: boolean): string[];
  closing(): string[];
}

/** What vLLM calls itself in the bodies. */
export const FINGERPRINT = "vllm-0.32.0-mock";

/** The text computed so far. */
export function textOf(choice: Choice): string {
  let text = "";
  for (let index = 0; index < choice.sent; index++) text += choice.tokens[index]?.text ?? "";
  return text;
}

/** Token counts over all choices; a prompt counts once however many replies it has. */
export function usageOf(reply: Reply): {
  readonly prompt: number;
  readonly completion: number;
  readonly cached: number;
  /** Prompt tokens in full blocks that had to be computed. */
  readonly created: number;
} {
  const usage = { prompt: 0, completion: 0, cached: 0, created: 0 };
  for (const choice of reply.choices) {
    usage.completion += choice.sent;
    if (choice.index % reply.call.samples !== 0) continue;
    usage.prompt += choice.prompt.length;
    usage.cached += choice.cachedTokens;
    usage.created += Math.floor(choice.prompt.length / reply.blockTokens) * reply.blockTokens - choice.cachedTokens;
  }
  return usage;
}

/** The usage object of the OpenAI APIs, with what --enable-prompt-tokens-details adds. */
export function openaiUsage(reply: Reply, created: number | null) {
  const usage = usageOf(reply);
  return {
    prompt_tokens: usage.prompt,
    total_tokens: usage.prompt + usage.completion,
    completion_tokens: usage.completion,
    prompt_tokens_details: { cached_tokens: usage.cached, created_cache_tokens: created, multimodal_tokens: null },
    completion_tokens_details: null,
  };
}

/** The same without what is null, as in the last chunk of a stream. */
export function streamUsage(reply: Reply, hasCreated = false) {
  const usage = usageOf(reply);
  return {
    prompt_tokens: usage.prompt,
    total_tokens: usage.prompt + usage.completion,
    completion_tokens: usage.completion,
    prompt_tokens_details: { cached_tokens: usage.cached, ...(hasCreated ? { created_cache_tokens: usage.created } : {}) },
  };
}

/** The counts of a single choice so far, for `continuous_usage_stats`. */
export function runningUsage(choice: Choice) {
  const prompt = choice.prompt.length;
  return { prompt_tokens: prompt, total_tokens: prompt + choice.sent, completion_tokens: choice.sent };
}

/** An event without a name. */
export function dataEvent(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** An event named after its type. */
export function namedEvent(value: { readonly type: string; readonly [field: string]: unknown }): string {
  return `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
}

export const DONE_EVENT = "data: [DONE]\n\n";
