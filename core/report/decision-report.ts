import type { Choice } from "../contract/decision.ts";
import type { RequestRecord } from "../contract/outcome.ts";
import { choiceReport, known } from "./choice-report.ts";
import type { DecisionReport, Refusal } from "./report-schema.ts";
import { whyPicked } from "./why-picked.ts";

/** A request that has ended, without its body and headers: what may be kept for a while. */
export interface EndedRequest extends RequestRecord {
  readonly isStream: boolean;
  readonly promptTokens: number;
  /** Undefined for a request that could not be understood. */
  readonly decision: Choice | undefined;
  readonly refusal: Refusal | undefined;
}

export function reportOf(ended: EndedRequest): DecisionReport {
  return {
    id: ended.id,
    time: new Date(ended.wallMs).toISOString(),
    status: ended.status,
    ending: ended.ending,
    errorCode: ended.error?.code ?? "",
    durationMs: ended.durationMs,
    firstByteMs: known(ended.firstByteMs),
    requestBytes: ended.requestBytes,
    responseBytes: ended.responseBytes,
    cache: cacheOf(ended),
    principal: ended.principal === undefined ? null : { name: ended.principal.name, tenant: ended.principal.tenant },
    ...(ended.pool !== undefined && { pool: ended.pool }),
    session: ended.session === undefined ? null : { ...ended.session, pausedMs: known(ended.session.pausedMs) },
    wait: ended.wait === undefined ? null : { ...ended.wait, waitedMs: known(ended.wait.waitedMs) },
    attempts: ended.attempts,
    prefill: prefillOf(ended.prefill),
    mirrors: (ended.mirrors ?? []).map((record) => ({ ...record, firstByteMs: known(record.firstByteMs) })),
    shadow: ended.shadow === undefined ? null : { ...ended.shadow, differenceMs: known(ended.shadow.differenceMs) },
    notes: ended.notes ?? [],
    ...choiceReport(ended, ended.decision, ended.refusal, whyOf(ended.decision, ended, ended.promptTokens)),
  };
}

function prefillOf(prefill: EndedRequest["prefill"]): DecisionReport["prefill"] {
  if (prefill === undefined) return null;
  const { tookMs, transferMs, expectedTransferMs, cachedTokens } = prefill;
  return {
    ...prefill,
    tookMs: known(tookMs),
    transferMs: known(transferMs),
    expectedTransferMs: known(expectedTransferMs),
    cachedTokens: known(cachedTokens),
  };
}

function cacheOf({ usage, predictedTokens }: EndedRequest): DecisionReport["cache"] {
  if (usage === undefined && predictedTokens === undefined) return null;
  return {
    predictedTokens: predictedTokens ?? null,
    reportedTokens: known(usage?.cachedTokens),
    reportedPromptTokens: known(usage?.promptTokens),
  };
}

/** One or two sentences: why it went where it went. */
export function whyOf(decision: Choice | undefined, { error, attempts }: RequestRecord, promptTokens: number): string {
  if (decision === undefined) {
    return error === undefined
      ? "The request ended before it was routed."
      : "The request could not be routed; its error says why.";
  }
  const sentence = whyPicked(decision.legs[0], decision.endpoints.length, promptTokens);
  const tried = attempts.filter(({ endpoint }, index) => endpoint !== attempts[index + 1]?.endpoint);
  const failed = tried.slice(0, -1).map(({ endpoint, result }) => `${endpoint} (${result})`);
  return failed.length === 0 ? sentence : `${sentence} Failed tries before the last: ${failed.join(", ")}.`;
}
