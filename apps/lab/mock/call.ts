import type { Dictated } from "./dictated.ts";
import type { JsonObject } from "./fields.ts";
import { joined, type Token } from "./tokens.ts";

interface Prompts {
  readonly prompts: readonly (readonly number[])[];
}

/** What a request asks of the engine, the same for all APIs. */
export interface Call extends Prompts {
  /** Outputs per prompt. */
  readonly samples: number;
  /** The client's limit, if it sets one. */
  readonly maxTokens: number | undefined;
  /** The field to name in the error for a limit that is too large; undefined if such a limit is silently reduced. */
  readonly limitName: string | undefined;
  /** The limit if the client sets none. */
  readonly defaultMaxTokens: number | undefined;
  readonly isStream: boolean;
  readonly hasUsage: boolean;
  readonly hasRunningUsage: boolean;
  readonly cacheSalt: string;
  /** Undefined: the output is made up. */
  readonly dictated: Dictated | undefined;
  readonly body: JsonObject;
}

type FinishReason = "length" | "stop";

/** What an engine generates for a prompt. */
export interface Output {
  readonly tokens: readonly Token[];
  readonly finish: FinishReason;
  /** The tool whose call the output is; "" for text. */
  readonly tool: string;
}

/** One output of a request, which can have several. `sent` counts the tokens computed so far. */
export interface Choice extends Output {
  readonly index: number;
  readonly prompt: readonly number[];
  sent: number;
  /** Prompt tokens that the response calls cached. */
  cachedTokens: number;
  /** Prompt tokens that were not computed here: cached, or brought by a transfer. */
  foundTokens: number;
}

/** A request in progress, with everything that response bodies and stream events need. */
export interface Reply {
  /** The client's x-request-id, or a random id. */
  readonly id: string;
  /** Always a random id, for the API that does not use the client's. */
  readonly itemId: string;
  readonly createdS: number;
  /** The base model or adapter that serves the request. */
  readonly model: string;
  readonly blockTokens: number;
  readonly call: Call;
  readonly choices: readonly Choice[];
  /** What the response says of a transfer, for the decode leg; null without one. */
  transferParams: object | null;
}

/** One generation API: reads its requests and writes its responses. */
export interface GenerationApi {
  readonly path: string;
  readonly isAnthropic?: boolean;
  /** The API has token ids and no text, so the output's bytes are its tokens. */
  readonly hasTokenIdsOnly?: boolean;
  /** What is left out is as most APIs have it. Throws a Problem. */
  read(body: JsonObject): Prompts & Partial<Call>;
  answer(reply: Reply): unknown;
  stream(reply: Reply): StreamScript;
}

/** The events of one stream in order; each ends with a blank line. */
export interface StreamScript {
  /** Sent right after the head, before the prompt is computed. */
  opening?(): string[];
  /** Sent before the first token of any choice. */
  first?(choice: Choice): string[];
  /** Called for the next tokens of a choice; `isLast` with its last one. */
  tokens(choice: Choice, tokens: readonly Token[], isLast: boolean): string[];
  closing(): string[];
  /** What ends a stream that fails before its first token, if not an error as its only event; undefined where it is cut. */
  failing?(error: object): string[] | undefined;
}

/** vLLM's `system_fingerprint`. */
export const FINGERPRINT = "vllm-0.32.0-mock";

/** The text of the tokens computed so far. */
export function textOf(choice: Choice): string {
  return joined(choice.tokens.slice(0, choice.sent));
}

/** Token counts over all choices; `created`: prompt tokens in full blocks that were not cached. A prompt counts once, even with several outputs. */
export function usageOf(reply: Reply) {
  const usage = { prompt: 0, completion: 0, cached: 0, created: 0 };
  for (const choice of reply.choices) {
    usage.completion += choice.sent;
    if (choice.index % reply.call.samples !== 0) continue;
    usage.prompt += choice.prompt.length;
    usage.cached += choice.cachedTokens;
    const full = Math.floor(choice.prompt.length / reply.blockTokens) * reply.blockTokens;
    usage.created += Math.max(0, full - choice.foundTokens);
  }
  return usage;
}

const counts = (prompt: number, completion: number) => ({
  prompt_tokens: prompt,
  total_tokens: prompt + completion,
  completion_tokens: completion,
});

/** The usage object of the OpenAI APIs, with the fields that --enable-prompt-tokens-details adds. */
export function openaiUsage(reply: Reply, created: number | null) {
  const { prompt, completion, cached } = usageOf(reply);
  return {
    ...counts(prompt, completion),
    prompt_tokens_details: { cached_tokens: cached, created_cache_tokens: created, multimodal_tokens: null },
    completion_tokens_details: null,
  };
}

/** The same object without null fields, as in the last chunk of a stream. */
export function streamUsage(reply: Reply, hasCreated = false) {
  const { prompt, completion, cached, created } = usageOf(reply);
  const details = { cached_tokens: cached, ...(hasCreated && { created_cache_tokens: created }) };
  return { ...counts(prompt, completion), prompt_tokens_details: details };
}

/** The usage of a single choice so far, for `continuous_usage_stats`. */
export const runningUsage = ({ prompt, sent }: Choice) => counts(prompt.length, sent);

/** Fields that vLLM always sends and the mock does not use. */
export const nulls = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, null]));

/** A server-sent event without a name. */
export function dataEvent(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** A server-sent event named after the value's type. */
export function namedEvent(value: { readonly type: string; readonly [field: string]: unknown }): string {
  return `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
}

export const DONE_EVENT = "data: [DONE]\n\n";
