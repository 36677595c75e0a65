import { type Choice, type ChoiceReport, choiceReport, known, type Refusal } from "./choice-report.ts";
import { type MirrorReport, mirrorReports } from "./mirror.ts";
import type { Attempt, Outcome } from "./outcome.ts";
import { type ShadowReport, shadowReport } from "./shadow.ts";
import { whyPicked } from "./why-picked.ts";

/** A request that has ended, without its body and headers: what may be kept for a while. */
export interface EndedRequest extends Omit<Outcome, "request" | "decision"> {
  readonly isStream: boolean;
  readonly promptTokens: number;
  /** Undefined for a request that could not be understood. */
  readonly decision: Choice | undefined;
  readonly refusal: Refusal | undefined;
}

/** Why a request went to its endpoint, and how it ended, as the admin port shows it: plain JSON. */
export interface DecisionReport extends ChoiceReport {
  readonly id: string;
  /** When the request ended, in ISO 8601. */
  readonly time: string;
  readonly status: number;
  readonly ending: Outcome["ending"];
  readonly errorCode: string;
  readonly durationMs: number;
  /** Null if no byte came. */
  readonly firstByteMs: number | null;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly cache: CacheReport | null;
  readonly attempts: readonly Attempt[];
  /** Its copies for mirrors, as they are now. */
  readonly mirrors: readonly MirrorReport[];
  /** What the shadow profile would have done; null if it did not decide this request. */
  readonly shadow: ShadowReport | null;
}

/** Prompt tokens that were believed cached at the endpoint, and that its replica reported; null if unknown. */
interface CacheReport {
  readonly predictedTokens: number | null;
  readonly reportedTokens: number | null;
  readonly reportedPromptTokens: number | null;
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
    attempts: ended.attempts,
    mirrors: mirrorReports(ended.mirrors),
    shadow: shadowReport(ended.shadow),
    ...choiceReport(ended, ended.decision, ended.refusal, whyOf(ended)),
  };
}

function cacheOf({ usage, predictedTokens }: EndedRequest): CacheReport | null {
  if (usage === undefined && predictedTokens === undefined) return null;
  return {
    predictedTokens: predictedTokens ?? null,
    reportedTokens: known(usage?.cachedTokens),
    reportedPromptTokens: known(usage?.promptTokens),
  };
}

/** One or two sentences: why it went where it went. */
export function whyOf({ decision, error, attempts, promptTokens }: Omit<EndedRequest, "refusal">): string {
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
