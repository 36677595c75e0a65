import type { Decision, Dropped, Fault, Leg } from "./decision.ts";
import { type Ejection, type Endpoint, isServing } from "./endpoint.ts";
import { type Estimate, estimateAt } from "./estimate.ts";
import type { DrawMethod } from "./request.ts";
import { whyPicked } from "./why-picked.ts";

/** A decision, as it is kept: without the error of a refusal, which refers to the request. */
export type Choice = Omit<Decision, "refusal">;

export interface Refusal {
  readonly code: string;
  readonly message: string;
}

/** What was decided about a request, and why: plain JSON, in which null is unknown. */
export interface ChoiceReport {
  /** Type of the parser that serves the path. */
  readonly api: string;
  readonly isStream: boolean;
  /** Estimated. */
  readonly promptTokens: number;
  readonly profile: string;
  /** The name that the client asked for. */
  readonly model: string;
  /** The name that is sent to the replica. */
  readonly target: string;
  /** The rule that drew the target; "" if none did. */
  readonly rule: string;
  /** How the rule drew it; null if no rule did, or it does not say. */
  readonly draw: DrawMethod | null;
  /** The reason for the choice, in one to three sentences. */
  readonly why: string;
  readonly poolSize: number;
  readonly dropped: readonly DroppedReport[];
  readonly picker: string;
  readonly scorers: readonly { readonly name: string; readonly weight: number }[];
  /** In the order in which they would be tried; endpoints that the picker left out come last. */
  readonly candidates: readonly CandidateReport[];
  readonly refusal: Refusal | null;
  readonly faults: readonly Fault[];
}

interface DroppedReport {
  readonly filter: string;
  readonly endpoints: readonly string[];
  /** Why, by endpoint, where there is more to say than the filter's name. */
  readonly reasons: Readonly<Record<string, string>>;
}

export interface CandidateReport {
  readonly endpoint: string;
  /** Tokens of this prompt that were believed cached there, and the others. */
  readonly cachedTokens: number | null;
  readonly uncachedTokens: number | null;
  /** Tokens of other prompts that were sent there and were still to be processed. */
  readonly waitingTokens: number | null;
  /** Expected time to the first token, in milliseconds. */
  readonly firstTokenMs: number | null;
  readonly total: number;
  /** One score for each scorer; null = no opinion. */
  readonly scores: readonly (number | null)[];
  /** Each scorer's confidence, in [0, 1]: its weight was multiplied by it. */
  readonly confidences: readonly number[];
}

/** What is reported of the request itself. */
export type ChoiceRequest = Pick<ChoiceReport, "api" | "isStream" | "promptTokens">;

/** `decision` is undefined for a request that was never decided; `why` then says so. */
export function choiceReport(
  { api, isStream, promptTokens }: ChoiceRequest,
  decision: Choice | undefined,
  refusal: Refusal | undefined,
  why = whyPicked(decision?.legs[0], decision?.endpoints.length ?? 0, promptTokens),
): ChoiceReport {
  const leg = decision?.legs[0];
  return {
    api,
    isStream,
    promptTokens,
    profile: leg?.profile ?? "",
    model: decision?.model ?? "",
    target: decision?.target ?? "",
    rule: decision?.rule ?? "",
    draw: decision?.draw ?? null,
    why: refusal?.message ?? why,
    poolSize: decision?.endpoints.length ?? 0,
    dropped: (leg?.dropped ?? []).map((dropped) => droppedOf(dropped, decision?.atMs ?? 0)),
    picker: leg?.picker ?? "",
    scorers: (leg?.scores ?? []).map(({ scorer, weight }) => ({ name: scorer, weight })),
    candidates: leg === undefined ? [] : candidatesOf(leg, promptTokens),
    refusal: refusal ?? null,
    faults: decision?.faults ?? [],
  };
}

/** The number, or null if it is not known. */
export const known = (count = Number.NaN) => (Number.isNaN(count) ? null : count);

function droppedOf({ filter, endpoints }: Dropped, atMs: number): DroppedReport {
  const reasons = endpoints.flatMap((endpoint) => {
    const reason = reasonOf(endpoint, atMs);
    return reason === "" ? [] : [[endpoint.name, reason] as const];
  });
  return { filter, endpoints: endpoints.map(({ name }) => name), reasons: Object.fromEntries(reasons) };
}

/** Why the endpoint gets no requests; "" if it would get some. */
function reasonOf(endpoint: Endpoint, atMs: number): string {
  const { ejection, phase } = endpoint;
  if (ejection !== undefined) return ejectionText(ejection, atMs);
  return isServing(endpoint) ? "" : phase;
}

/** "ejected 12 s ago after 5 resets, back in 18 s". */
export function ejectionText({ reason, sinceMs, untilMs }: Ejection, atMs: number): string {
  const leftS = Math.round((untilMs - atMs) / 1000);
  const back = leftS > 0 ? `back in ${leftS} s if one request succeeds then` : "back as soon as one request succeeds";
  return `ejected ${Math.max(0, Math.round((atMs - sinceMs) / 1000))} s ago: ${reason}; ${back}`;
}

/** Endpoints that the picker left out come last. */
function candidatesOf(leg: Leg, promptTokens: number): readonly CandidateReport[] {
  const { candidates, scores } = leg;
  const places = new Map(leg.order.map((endpoint, place) => [endpoint, place]));
  const placeOf = (index: number) => places.get(candidates[index]!) ?? candidates.length;
  return [...candidates.keys()]
    .sort((one, other) => placeOf(one) - placeOf(other))
    .map((index) => ({
      endpoint: candidates[index]!.name,
      ...estimateReport(estimateAt(leg, placeOf(index)), promptTokens),
      total: leg.totals[index] ?? 0,
      scores: scores.map(({ values }) => values[index] ?? null),
      confidences: scores.map(({ confidences }) => confidences?.[index] ?? 1),
    }));
}

function estimateReport(estimate: Estimate | undefined, promptTokens: number) {
  const { cachedTokens = Number.NaN, waitingTokens = Number.NaN, firstTokenMs = Number.NaN } = estimate ?? {};
  return {
    cachedTokens: known(cachedTokens),
    uncachedTokens: known(promptTokens - cachedTokens),
    waitingTokens: known(Math.round(waitingTokens)),
    firstTokenMs: known(Math.round(firstTokenMs * 10) / 10),
  };
}
