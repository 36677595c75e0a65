import { RouterError } from "../contract/errors.ts";
import { NO_PREFIX } from "../contract/prefix-match.ts";
import { NO_PARTS } from "../contract/prompt-part.ts";
import type { InferenceRequest, ParsedBody } from "../contract/request.ts";
import type { Span } from "../contract/span.ts";
import { failedPlugin } from "../plugin-watch/plugin-faults.ts";
import { type PartScale, tokensOf } from "../state/part-scale.ts";
import type { PrefixKey } from "../state/prefix-hash.ts";
import type { PrefixIndex } from "../state/prefix-index.ts";
import type { TokenScale } from "../state/token-scale.ts";
import { type DrawConfig, drawTarget } from "./draw-target.ts";
import type { Incoming } from "./incoming.ts";
import { type NamesPool, onDemand } from "./on-demand.ts";

const NO_SPAN: Span = [-1, -1];

/** What is read of a pool to describe a request; nothing of it is changed. */
export interface AskedPool extends NamesPool {
  readonly prefixIndex: Pick<PrefixIndex, "match"> | undefined;
  readonly tokenScale: Pick<TokenScale, "scaled"> & { readonly parts: Pick<PartScale, "counted"> };
}

/** Reads what the body asks for. Throws RouterError when it can't be routed, or the parser fails on it (plugin_fault). */
export function parse({ parser, body, path }: Incoming): ParsedBody {
  try {
    return parser.plugin.parse(body, path);
  } catch (thrown) {
    throw thrown instanceof RouterError ? thrown : failedPlugin("parser", parser, thrown);
  }
}

/**
 * The request as filters, scorers and pickers see it, with the target that its rule draws now. The target is drawn before they run
 * because they need the final name: it decides which replicas have the adapter and which caches can hold the prompt.
 */
export function withTarget(
  parsed: ParsedBody,
  incoming: Incoming,
  config: DrawConfig,
  pool: AskedPool,
  nowMs: number,
): InferenceRequest {
  const { prefixIndex, tokenScale } = pool;
  const { parser, head, body } = incoming;
  const draw = drawTarget(parsed, head, config, pool, nowMs);
  const target = draw?.target ?? parsed.model;
  const promptParts = tokenScale.parts.counted(target, parsed.promptParts ?? NO_PARTS);
  const promptTokens = tokenScale.scaled(parser.type, parsed.promptTokens) + tokensOf(promptParts);
  const key: PrefixKey = { api: parser.type, target, cacheSalt: parsed.cacheSalt };
  // Written field by field, because a spread makes the engine build the object in steps.
  return {
    model: parsed.model,
    modelSpan: parsed.modelSpan,
    isStream: parsed.isStream,
    promptSpans: parsed.promptSpans,
    promptTokens,
    promptParts,
    maxOutputTokens: parsed.maxOutputTokens,
    cacheSalt: parsed.cacheSalt,
    saltSpan: parsed.saltSpan ?? NO_SPAN,
    // A body without a model may be an empty object.
    isSalted: parsed.isSalted === true && parsed.saltSpan !== undefined && parsed.modelSpan[0] >= 0,
    isRepeatable: parsed.isRepeatable,
    isFollowUp: parsed.isFollowUp === true,
    parsedTokens: parsed.promptTokens,
    id: incoming.id,
    api: parser.type,
    path: incoming.path,
    dialect: parser.plugin.dialect,
    headers: head,
    body: body.bytes,
    target,
    rule: draw?.rule ?? "",
    draw: draw?.method,
    onDemand: onDemand(target, config, pool),
    prefix: prefixIndex?.match(key, body.bytes, parsed.promptSpans, promptTokens, promptParts) ?? NO_PREFIX,
  };
}

const NO_BODY = new Uint8Array(0);

/** Outcomes outlive requests, but bodies must not: their memory is used again. */
export function forgetBody(request: InferenceRequest | undefined): void {
  if (request === undefined) return;
  try {
    (request as { body: Uint8Array }).body = NO_BODY;
  } catch {
    // A plugin has frozen the request.
  }
}
