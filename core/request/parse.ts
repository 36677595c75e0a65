import type { ActiveConfig } from "../active-config.ts";
import type { LoadView } from "../contract/load-view.ts";
import { NO_PREFIX } from "../contract/prefix-match.ts";
import { NO_PARTS } from "../contract/prompt-part.ts";
import type { InferenceRequest, ParsedBody } from "../contract/request.ts";
import { refusalBy } from "../plugin-watch/plugin-faults.ts";
import type { AskedPool } from "../pool/pool.ts";
import type { AskedRun } from "../run.ts";
import { tokensOf } from "../state/part-scale.ts";
import type { PrefixKey } from "../state/prefix-hash.ts";
import { drawTarget } from "./draw-target.ts";
import { onDemand } from "./on-demand.ts";

/** Reads what the body asks for. Throws RouterError when it can't be routed, or the parser fails on it (plugin_fault). */
export function parse({ parser, body, ticket, query }: AskedRun): ParsedBody {
  try {
    return parser!.plugin.parse(body!, ticket.path, query);
  } catch (thrown) {
    throw refusalBy("parser", parser!, thrown);
  }
}

/**
 * The request as filters, scorers and pickers see it, with the target that its rule draws now. The target is drawn before they run
 * because they need the final name: it decides which replicas have the adapter and which caches can hold the prompt.
 */
export function withTarget(
  parsed: ParsedBody,
  run: AskedRun,
  config: ActiveConfig,
  { facts, prefixIndex, tokenScale }: AskedPool,
  load: LoadView,
): InferenceRequest {
  const { ticket, head } = run;
  const parser = run.parser!;
  const body = run.body!;
  const draw = run.draw ?? drawTarget(parsed, head, config, facts, load);
  const target = draw?.target ?? parsed.model;
  const promptParts = tokenScale.parts.counted(target, parsed.promptParts ?? NO_PARTS);
  const promptTokens = tokenScale.scaled(parser.type, parsed.promptTokens) + tokensOf(promptParts);
  const key: PrefixKey = { api: parser.type, target, cacheSalt: parsed.cacheSalt };
  // Written field by field, because a spread makes the engine build the object in steps.
  return {
    model: parsed.model,
    modelSpan: parsed.modelSpan,
    modelIn: parsed.modelIn,
    isStream: parsed.isStream,
    promptSpans: parsed.promptSpans,
    promptTokens,
    promptParts,
    maxOutputTokens: parsed.maxOutputTokens,
    choices: parsed.choices ?? 1,
    cacheSalt: parsed.cacheSalt,
    written: parsed.written,
    isRepeatable: parsed.isRepeatable,
    asksForNothing: parsed.asksForNothing === true,
    isFollowUp: parsed.isFollowUp === true,
    parsedTokens: parsed.promptTokens,
    id: ticket.id,
    api: parser.type,
    path: ticket.path,
    dialect: parser.plugin.dialect,
    headers: head,
    body: body.bytes,
    target,
    rule: draw?.rule ?? "",
    draw: draw?.method,
    placedAt: run.placedAt,
    onDemand: onDemand(target, config, facts, load),
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
