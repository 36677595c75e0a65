import type { ActiveConfig } from "../active-config.ts";
import { NO_PREFIX } from "../contract/prefix-match.ts";
import { NO_PARTS } from "../contract/prompt-part.ts";
import type { InferenceRequest } from "../contract/request.ts";
import type { Incoming } from "../intake/incoming.ts";
import { type PartScale, tokensOf } from "../state/part-scale.ts";
import type { PrefixIndex } from "../state/prefix-index.ts";
import type { TokenScale } from "../state/token-scale.ts";
import { drawTarget } from "./draw-target.ts";
import { type NamesPlane, onDemand } from "./on-demand.ts";

/** What parsing reads of the data plane; it changes none of it but the rewriters' counts. */
export interface ParsePlane extends NamesPlane {
  readonly prefixIndex: Pick<PrefixIndex, "match"> | undefined;
  readonly tokenScale: Pick<TokenScale, "scaled"> & { readonly parts: Pick<PartScale, "counted"> };
}

/**
 * Parses the body and draws the target. The target is drawn here because filters and scorers need the final name: it decides
 * which replicas have the adapter and which caches can hold the prompt. Throws RouterError when the body can't be routed.
 */
export function parse(
  incoming: Incoming,
  config: Pick<ActiveConfig, "rewriters" | "targets" | "settings">,
  plane: ParsePlane,
): InferenceRequest {
  const { prefixIndex, tokenScale } = plane;
  const { parser, head, body } = incoming;
  const parsed = parser.plugin.parse(body, incoming.path);
  const draw = drawTarget(parsed, incoming, config, plane);
  const target = draw?.target ?? parsed.model;
  const key = { api: parser.type, target, cacheSalt: parsed.cacheSalt };
  const promptParts = tokenScale.parts.counted(target, parsed.promptParts ?? NO_PARTS);
  const promptTokens = tokenScale.scaled(parser.type, parsed.promptTokens) + tokensOf(promptParts);
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
    onDemand: onDemand(target, config, plane),
    prefix: prefixIndex?.match(key, body.bytes, parsed.promptSpans, promptTokens, promptParts) ?? NO_PREFIX,
  };
}
