import type { Endpoint } from "../../core/contract/endpoint.ts";
import { RouterError } from "../../core/contract/errors.ts";
import type { InferenceRequest } from "../../core/contract/request.ts";

/** Lengths of text are estimates: a replica counts as large enough where so many times the estimate fits. */
const MARGIN = 1.5;
/** No tokenizer has tokens of more than some 128 bytes, and JSON may write one byte as six ("\\u0020"). */
const MOST_BYTES_PER_TOKEN = 1_024;
/** Of a longer list of token ids only so much was counted; the rest is an estimate. */
const COUNTED_BYTES = 1024 * 1024;
/** APIs whose prompt is nothing but text or ids, where it is one text or one list: others hold templates and unknown parts. */
const PLAIN_APIS: ReadonlySet<string> = new Set(["completions", "generate", "responses"]);
/** The keys by which engines are told to cut a prompt off instead of refusing it: truncate_prompt_tokens, truncation. */
const CUTS_OFF = Buffer.from("truncat");

const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const SPACE = 0x20;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;

/**
 * Of endpoints that serve the target, those whose context is large enough for the request, as far as they say how large it is. If
 * none is by estimate, the largest ones, since estimates err; none if it is certain that the prompt is longer.
 */
export function thoseThatHold(request: InferenceRequest, candidates: readonly Endpoint[]): readonly Endpoint[] {
  const { target } = request;
  const needed = MARGIN * request.promptTokens + request.maxOutputTokens;
  let holding = 0;
  // A loop, because a closure made for each request costs more than the look-ups.
  for (const endpoint of candidates) if (contextOf(endpoint, target) >= needed) holding += 1;
  if (holding === candidates.length) return candidates;
  if (holding > 0) return candidates.filter((endpoint) => contextOf(endpoint, target) >= needed);
  const largest = largestContext(candidates, target);
  if (leastTokens(request) > largest) return [];
  return candidates.filter((endpoint) => contextOf(endpoint, target) === largest);
}

/** The refusal of a prompt that is too long for every replica that serves the target, ready or not; undefined if it may fit one. */
export function tooLong(request: InferenceRequest, endpoints: readonly Endpoint[]): RouterError | undefined {
  const serving = endpoints.filter(({ models }) => models.has(request.target));
  if (serving.length === 0) return undefined;
  const largest = largestContext(serving, request.target);
  const least = leastTokens(request);
  if (least <= largest) return undefined;
  const message = `This model's maximum context length is ${largest} tokens. However, your request has at least ${least} input tokens. Please reduce the length of the input messages.`;
  return new RouterError("context_length_exceeded", message);
}

/** Infinity where the endpoint does not say. */
function contextOf({ modelCards }: Endpoint, target: string): number {
  return modelCards?.[target]?.contextTokens ?? Number.POSITIVE_INFINITY;
}

function largestContext(endpoints: readonly Endpoint[], target: string): number {
  return Math.max(...endpoints.map((endpoint) => contextOf(endpoint, target)));
}

/** Fewer tokens the prompt can't have, whatever the tokenizer; 0 where that is not certain. */
function leastTokens({ api, body, promptSpans, parsedTokens }: InferenceRequest): number {
  const [span] = promptSpans;
  if (span === undefined || promptSpans.length > 1 || !PLAIN_APIS.has(api)) return 0;
  const [start, end] = span;
  const bytes = end - start;
  const least =
    body[start] === QUOTE
      ? Math.floor(bytes / MOST_BYTES_PER_TOKEN)
      : isOneListOfIds(body, start)
        ? Math.floor(parsedTokens * Math.min(1, COUNTED_BYTES / bytes))
        : 0;
  return least > 0 && Buffer.from(body.buffer, body.byteOffset, body.length).includes(CUTS_OFF) ? 0 : least;
}

/** A list of lists is several prompts. */
function isOneListOfIds(body: Uint8Array, start: number): boolean {
  if (body[start] !== OPEN_BRACKET) return false;
  let at = start + 1;
  while (body[at]! <= SPACE) at += 1;
  return body[at]! >= DIGIT_0 && body[at]! <= DIGIT_9;
}
