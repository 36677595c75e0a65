import type { Choice, Decision, Dropped, Leg } from "../contract/decision.ts";
import { type Ejection, type Endpoint, isServing } from "../contract/endpoint.ts";
import { type Estimate, estimateAt } from "../contract/estimate.ts";
import { NO_PREFIX } from "../contract/prefix-match.ts";
import type { InferenceRequest } from "../contract/request.ts";
import type { AskedReport, CandidateReport, ChoiceReport, DryRunReport, LegReport, Refusal } from "./report-schema.ts";
import { whyPicked } from "./why-picked.ts";

/** `decision` is undefined for a request that was never decided; `why` then says so. */
export function choiceReport(
  { api, isStream, promptTokens }: AskedReport,
  decision: Choice | undefined,
  refusal: Refusal | undefined,
  why = whyPicked(decision?.legs[0], decision?.endpoints.length ?? 0, promptTokens),
): ChoiceReport {
  const [leg, prefillLeg] = decision?.legs ?? [];
  return {
    api,
    isStream,
    promptTokens,
    model: decision?.model ?? "",
    target: decision?.target ?? "",
    rule: decision?.rule ?? "",
    draw: decision?.draw ?? null,
    poolSize: decision?.endpoints.length ?? 0,
    ...legReport(leg, decision, refusal?.message ?? why, promptTokens),
    pairing: pairingOf(decision?.pairing),
    prefillLeg:
      prefillLeg === undefined
        ? null
        : legReport(prefillLeg, decision, whyPicked(prefillLeg, decision!.endpoints.length, promptTokens), promptTokens),
    refusal: refusal ?? null,
    faults: decision?.faults ?? [],
  };
}

function legReport(leg: Leg | undefined, decision: Choice | undefined, why: string, promptTokens: number): LegReport {
  return {
    profile: leg?.profile ?? "",
    why,
    dropped: (leg?.dropped ?? []).map((dropped) => droppedOf(dropped, decision?.atMs ?? 0)),
    picker: leg?.picker ?? "",
    scorers: (leg?.scores ?? []).map(({ scorer, weight }) => ({ name: scorer, weight })),
    candidates: leg === undefined ? [] : candidatesOf(leg, promptTokens),
  };
}

function pairingOf(pairing: Choice["pairing"]): ChoiceReport["pairing"] {
  if (pairing === undefined) return null;
  const { pairMs, aloneMs, heldUpMs } = pairing;
  return { ...pairing, pairMs: known(pairMs), aloneMs: known(aloneMs), heldUpMs: known(heldUpMs) };
}

const NO_INDEX = "No plugin of this profile reads prompts, so nothing is known of what is cached.";

/** `time` in ISO 8601; `notes` replace those about the prefix index. */
export function dryRunReport(
  request: InferenceRequest,
  decision: Decision,
  time: string,
  notes: readonly string[] = request.prefix === NO_PREFIX ? [NO_INDEX] : [],
): DryRunReport {
  const { path, body } = request;
  const refusal = decision.refusal && { code: decision.refusal.code, message: decision.refusal.message };
  return { isDryRun: true, time, path, requestBytes: body.length, notes, ...choiceReport(request, decision, refusal) };
}

/** The number, or null if it is not known. */
export const known = (count = Number.NaN) => (Number.isNaN(count) ? null : count);

function droppedOf({ filter, endpoints }: Dropped, atMs: number): ChoiceReport["dropped"][number] {
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

/** "ejected 12 s ago: 5 resets; back in 18 s". */
export function ejectionText(ejection: Ejection, atMs: number): string {
  return `ejected ${Math.max(0, Math.round((atMs - ejection.sinceMs) / 1000))} s ago: ${ejectionCause(ejection, atMs)}`;
}

/** "5 resets; back in 18 s". */
export function ejectionCause({ reason, untilMs }: Ejection, atMs: number): string {
  const leftS = Math.round((untilMs - atMs) / 1000);
  const back = leftS > 0 ? `back in ${leftS} s if one request succeeds then` : "back as soon as one request succeeds";
  return `${reason}; ${back}`;
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
