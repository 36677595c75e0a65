import type { BodyView } from "../../core/contract/body-view.ts";
import type { Dialect } from "../../core/contract/errors.ts";
import { RouterError } from "../../core/contract/errors.ts";
import type { Parser } from "../../core/contract/parser.ts";
import { defineParser } from "../../core/contract/plugin.ts";
import type { PromptPart } from "../../core/contract/prompt-part.ts";
import type { ParsedBody } from "../../core/contract/request.ts";
import type { ResponseShape } from "../../core/contract/response-shape.ts";
import type { Span } from "../../core/contract/span.ts";

/** How one JSON API differs from another. */
interface JsonApi {
  readonly type: string;
  readonly summary: string;
  readonly paths: readonly string[];
  readonly dialect: Dialect;
  /** Keys that hold the prompt, in the order the engine reads them. */
  readonly promptKeys: readonly string[];
  /** Those of the prompt's keys that may hold images, audio and files. */
  readonly partKeys?: readonly string[];
  /** The one that holds several prompts as a list. An empty list has no answer. */
  readonly batchKey?: string;
  /** How many choices it asks for. */
  readonly choicesKey?: string;
  /** Keys that limit the generated tokens; the first that is set counts. */
  readonly limitKeys: readonly string[];
  /** What else is read: its keys, and what it changes. */
  readonly moreKeys?: readonly string[];
  readonly more?: (parsed: ParsedBody, body: BodyView, path: string) => Partial<ParsedBody>;
  readonly openingEvents?: number;
  /** What the responses of all its paths have, but of those that have their own. */
  readonly response: ResponseShape;
  readonly responses?: Readonly<Record<string, ResponseShape>>;
}

/** Of the APIs that respond with choices. Their streams end with [DONE]; that of transformers has only a reason. */
export const CHOICES: ResponseShape = {
  document: ['"choices":[{"'],
  events: ['"choices":[{"'],
  endings: ["[DONE]", '"finish_reason":"'],
};

/** Prompt bytes for each token: about right for English and code; for other scripts it is about 3. */
const BYTES_PER_TOKEN = 4;
const MINUS = 0x2d;
const ZERO = 0x30;
const SPACE = 0x20;

/** A parser that runs by default, for JSON bodies with `model`, `stream`, `cache_salt`, and the keys of `api`. */
export function defineJsonParser(api: JsonApi) {
  const {
    type,
    summary,
    paths,
    dialect,
    promptKeys,
    partKeys,
    limitKeys,
    choicesKey,
    moreKeys = [],
    more,
    openingEvents,
    response,
    responses,
  } = api;
  const parser: Parser = {
    routes: paths.map((path) => ({ method: "POST", path })),
    dialect,
    keys: ["model", "stream", "cache_salt", ...promptKeys, ...limitKeys, ...(choicesKey ? [choicesKey] : []), ...moreKeys],
    ...(partKeys && { partKeys }),
    ...(openingEvents && { openingEvents }),
    responses: { ...Object.fromEntries(paths.map((path) => [path, response])), ...responses },
    parse(body, path) {
      const parsed = readFields(body, api);
      return more === undefined ? parsed : { ...parsed, ...more(parsed, body, path) };
    },
  };
  return defineParser({ type, summary, runsByDefault: true, create: () => parser });
}

function readFields(body: BodyView, api: JsonApi): ParsedBody {
  const modelSpan = body.span("model");
  const model = body.kind("model") === "string" ? body.text("model") : undefined;
  if (modelSpan === undefined || model === undefined || model === "") throw new RouterError("missing_model", MISSING_MODEL);
  const { spans: promptSpans, tokens: promptTokens } = promptAt(body, api.promptKeys);
  return {
    model,
    modelSpan,
    isStream: body.flag("stream"),
    promptSpans,
    promptTokens,
    promptParts: body.parts,
    maxOutputTokens: outputLimit(body, api.limitKeys),
    cacheSalt: body.text("cache_salt") ?? "",
    saltSpan: body.span("cache_salt") ?? NO_SPAN,
    isRepeatable: true,
    asksForNothing: asksForNothing(body, api),
    choices: choicesOf(body, api),
  };
}

/** Read as strictly as limits are: what an engine may take for another number would be a way around the limits of keys. */
function choicesOf(body: BodyView, { choicesKey }: JsonApi): number {
  return choicesKey === undefined ? 1 : Math.max(1, countAt(body, choicesKey));
}

function asksForNothing(body: BodyView, { batchKey, choicesKey }: JsonApi): boolean {
  return (batchKey !== undefined && isEmptyList(body, batchKey)) || (choicesKey !== undefined && isZero(body, choicesKey));
}

function isEmptyList(body: BodyView, key: string): boolean {
  if (body.kind(key) !== "array") return false;
  const [start, end] = body.span(key)!;
  for (let at = start + 1; at < end - 1; at++) if (body.bytes[at]! > SPACE) return false;
  return true;
}

/** Written as engines read it; whether any other value is right is theirs to say. */
function isZero(body: BodyView, key: string): boolean {
  const span = body.span(key);
  return span !== undefined && span[1] - span[0] === 1 && body.bytes[span[0]] === ZERO;
}

const NO_SPAN: Span = [-1, -1];
export const MISSING_MODEL = 'Set "model" to the name of a model or adapter; GET /v1/models lists those served here.';

/** The tokens of the texts and token ids at these keys, and the spans of those that there are. */
export function promptAt(body: BodyView, keys: readonly string[]): { readonly spans: readonly Span[]; readonly tokens: number } {
  const spans: Span[] = [];
  let tokens = 0;
  for (const key of keys) {
    const span = body.span(key);
    if (span === undefined || !isPrompt(body, key)) continue;
    spans.push(span);
    tokens += body.countElements(key) || spanTokens(span, body.parts);
  }
  return { spans, tokens };
}

function isPrompt(body: BodyView, key: string): boolean {
  const kind = body.kind(key);
  return kind === "string" || kind === "array" || kind === "object";
}

/** Estimated tokens of the text in a span, including its JSON syntax. (Token ids are counted instead.) */
function spanTokens([start, end]: Span, parts: readonly PromptPart[]): number {
  let bytes = end - start;
  for (const { span } of parts) if (span[0] >= start && span[1] <= end) bytes -= span[1] - span[0];
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

function outputLimit(body: BodyView, keys: readonly string[]): number {
  for (const key of keys) {
    if (body.span(key) !== undefined && body.kind(key) !== "null") return countAt(body, key);
  }
  return 0;
}

/** Some engines read a negative limit as "no limit". */
function countAt(body: BodyView, key: string): number {
  const span = body.span(key);
  return span === undefined || body.bytes[span[0]] === MINUS ? 0 : body.count(key);
}
