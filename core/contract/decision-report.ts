import { type MirrorReport, mirrorReports, type ShadowReport, shadowReport } from "./beside-report.ts";
import type { Decision, Dropped, Fault, Leg } from "./decision.ts";
import type { Ejection, Endpoint } from "./endpoint.ts";
import type { Attempt, Outcome } from "./outcome.ts";

/** A request that has ended, without its body and headers: what may be kept for a while. */
export interface EndedRequest extends Omit<Outcome, "request" | "decision"> {
  readonly isStream: boolean;
  readonly promptTokens: number;
  /** Undefined for a request that could not be understood. */
  readonly decision: Choice | undefined;
  readonly refusal: Refusal | undefined;
}

interface Refusal {
  readonly code: string;
  readonly message: string;
}

/** Why a request went to its endpoint, as the admin port shows it: plain JSON. */
export interface DecisionReport {
  readonly id: string;
  /** When the request ended, in ISO 8601. */
  readonly time: string;
  readonly api: string;
  readonly status: number;
  readonly ending: Outcome["ending"];
  readonly errorCode: string;
  readonly durationMs: number;
  /** Null if no byte came. */
  readonly firstByteMs: number | null;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly isStream: boolean;
  readonly promptTokens: number;
  readonly cache: CacheReport | null;
  readonly profile: string;
  readonly model: string;
  readonly target: string;
  readonly rule: string;
  /** The reason for the choice, in one or two sentences. */
  readonly why: string;
  readonly poolSize: number;
  readonly dropped: readonly DroppedReport[];
  readonly scorers: readonly { readonly name: string; readonly weight: number }[];
  /** In the order in which they would be tried; endpoints that the picker left out come last. */
  readonly candidates: readonly CandidateReport[];
  readonly refusal: Refusal | null;
  readonly faults: readonly Fault[];
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

interface DroppedReport {
  readonly filter: string;
  readonly endpoints: readonly string[];
  /** Why, by endpoint, where there is more to say than the filter's name. */
  readonly reasons: Readonly<Record<string, string>>;
}

export interface CandidateReport {
  readonly endpoint: string;
  readonly total: number;
  /** One score for each scorer; null = no opinion. */
  readonly scores: readonly (number | null)[];
  /** Each scorer's confidence, in [0, 1]: its weight was multiplied by it. */
  readonly confidences: readonly number[];
}

export function reportOf(ended: EndedRequest): DecisionReport {
  const { decision } = ended;
  const leg = decision?.legs[0];
  return {
    id: ended.id,
    time: new Date(ended.wallMs).toISOString(),
    api: ended.api,
    status: ended.status,
    ending: ended.ending,
    errorCode: ended.error?.code ?? "",
    durationMs: ended.durationMs,
    firstByteMs: Number.isNaN(ended.firstByteMs) ? null : ended.firstByteMs,
    requestBytes: ended.requestBytes,
    responseBytes: ended.responseBytes,
    isStream: ended.isStream,
    promptTokens: ended.promptTokens,
    cache: cacheOf(ended),
    profile: leg?.profile ?? "",
    model: decision?.model ?? "",
    target: decision?.target ?? "",
    rule: decision?.rule ?? "",
    why: whyOf(ended),
    poolSize: decision?.endpoints.length ?? 0,
    dropped: (leg?.dropped ?? []).map((dropped) => droppedOf(dropped, decision?.atMs ?? 0)),
    scorers: (leg?.scores ?? []).map(({ scorer, weight }) => ({ name: scorer, weight })),
    candidates: leg === undefined ? [] : candidatesOf(leg),
    refusal: ended.refusal ?? null,
    faults: decision?.faults ?? [],
    attempts: ended.attempts,
    mirrors: mirrorReports(ended.mirrors),
    shadow: shadowReport(ended.shadow),
  };
}

function droppedOf({ filter, endpoints }: Dropped, atMs: number): DroppedReport {
  const reasons = endpoints.flatMap(({ name, ejection }) =>
    ejection === undefined ? [] : [[name, ejectionText(ejection, atMs)] as const],
  );
  return { filter, endpoints: endpoints.map(({ name }) => name), reasons: Object.fromEntries(reasons) };
}

/** "ejected 12 s ago after 5 resets, back in 18 s". */
export function ejectionText({ reason, sinceMs, untilMs }: Ejection, atMs: number): string {
  const leftS = Math.round((untilMs - atMs) / 1000);
  const back = leftS > 0 ? `back in ${leftS} s if one request succeeds then` : "back as soon as one request succeeds";
  return `ejected ${Math.max(0, Math.round((atMs - sinceMs) / 1000))} s ago: ${reason}; ${back}`;
}

function cacheOf({ usage, predictedTokens }: EndedRequest): CacheReport | null {
  if (usage === undefined && predictedTokens === undefined) return null;
  return {
    predictedTokens: predictedTokens ?? null,
    reportedTokens: known(usage?.cachedTokens),
    reportedPromptTokens: known(usage?.promptTokens),
  };
}

const known = (count = Number.NaN) => (Number.isNaN(count) ? null : count);

type Choice = Omit<Decision, "refusal">;

/** Endpoints that the picker left out come last. */
function candidatesOf(leg: Leg): readonly CandidateReport[] {
  const { candidates, scores } = leg;
  const places = new Map(leg.order.map((endpoint, place) => [endpoint, place]));
  const placeOf = (index: number) => places.get(candidates[index]!) ?? candidates.length;
  return [...candidates.keys()]
    .sort((one, other) => placeOf(one) - placeOf(other))
    .map((index) => ({
      endpoint: candidates[index]!.name,
      total: leg.totals[index] ?? 0,
      scores: scores.map(({ values }) => values[index] ?? null),
      confidences: scores.map(({ confidences }) => confidences?.[index] ?? 1),
    }));
}

function whyOf({ decision, refusal, error, attempts }: EndedRequest): string {
  if (refusal !== undefined) return refusal.message;
  if (decision === undefined) {
    return error === undefined
      ? "The request ended before it was routed."
      : "The request could not be routed; its error says why.";
  }
  const [leg] = decision.legs;
  const pick = leg?.order[0];
  if (leg === undefined || pick === undefined) return "The picker chose no endpoint.";
  const tried = attempts.filter(({ endpoint }, index) => endpoint !== attempts[index + 1]?.endpoint);
  const failed = tried.slice(0, -1).map(({ endpoint, result }) => `${endpoint} (${result})`);
  const sentence = pickSentence(leg, pick, decision.endpoints.length);
  return failed.length === 0 ? sentence : `${sentence} Failed tries before the last: ${failed.join(", ")}.`;
}

function pickSentence({ candidates, totals, scores }: Leg, pick: Endpoint, poolSize: number): string {
  if (candidates.length === 1) return `${pick.name} was the only candidate${poolSize === 1 ? "" : ` of ${poolSize}`}.`;
  if (pick.isOnTrial) return `${pick.name} is on trial: this request decides whether it returns.`;
  if (scores.length === 0) return `${pick.name} was picked; no scorer had an opinion.`;
  const total = totals[candidates.indexOf(pick)] ?? 0;
  const others = candidates.flatMap((candidate, index) => (candidate === pick ? [] : [totals[index] ?? 0]));
  const best = Math.max(...others);
  if (best > total) return `${pick.name} was picked with ${shown(total)}; the best had ${shown(best)}.`;
  const equals = others.filter((other) => other === total).length;
  if (equals > 0) return `${pick.name} was picked from ${equals + 1} with the same best score (${shown(total)}).`;
  return `${pick.name} was best with ${shown(total)}; the next had ${shown(best)}.`;
}

const shown = (score: number) => score.toFixed(3);
