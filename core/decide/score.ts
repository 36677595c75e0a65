import type { WeightedScorer } from "../active-config.ts";
import type { Fault, ScorerColumn } from "../contract/decision.ts";
import { doubleZeros } from "../contract/doubles.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { LoadView } from "../contract/load-view.ts";
import type { InferenceRequest } from "../contract/request.ts";
import { ignoresPromise } from "../contract/returned-promise.ts";
import type { Scorer } from "../contract/scorer.ts";
import { faultText } from "../plugin-watch/plugin-faults.ts";

export interface Scored {
  readonly columns: readonly ScorerColumn[];
  /** For each candidate, sum(weight x confidence x score) / sum(weight x confidence); 0 if no scorer has an opinion. */
  readonly totals: readonly number[];
  readonly faults: readonly Fault[];
}

/** The scores in a decision that refuses. */
export const NOT_SCORED: Scored = { columns: [], totals: [], faults: [] };

/** Asks every scorer. One that breaks its contract counts as having no opinion on this request, and the fault is recorded. */
export function score(
  request: InferenceRequest,
  scorers: readonly WeightedScorer[],
  candidates: readonly Endpoint[],
  load: LoadView,
): Scored {
  const columns: ScorerColumn[] = [];
  const faults: Fault[] = [];
  const totals = doubleZeros(candidates.length);
  const weights = emptyWeights(candidates.length);
  for (const scorer of scorers) {
    try {
      const values = scorer.plugin.score(request, candidates.slice(), load);
      if (values === null) continue;
      checkValues(values, candidates.length);
      const confidences = partialConfidences(scorer.plugin, candidates, load);
      const { name, weight } = scorer;
      // Not with a spread, which makes the engine build the object in steps.
      columns.push(confidences === undefined ? { scorer: name, weight, values } : { scorer: name, weight, values, confidences });
      addColumn(values, weight, confidences, totals, weights);
    } catch (thrown) {
      faults.push({ plugin: scorer.name, message: faultText(thrown, scorer.file) });
    }
  }
  for (let i = 0; i < totals.length; i++) {
    if (weights[i]! > 0) totals[i]! /= weights[i]!;
  }
  return { columns, totals, faults };
}

let weightsScratch = new Float64Array(64);

/** All requests share this memory: scoring is synchronous, so only one of them uses it at a time. */
function emptyWeights(length: number): Float64Array {
  if (length > weightsScratch.length) weightsScratch = new Float64Array(2 * length);
  for (let index = 0; index < length; index++) weightsScratch[index] = 0;
  return weightsScratch;
}

function checkValues(values: ArrayLike<number | null>, wanted: number): void {
  if (values.length !== wanted && ignoresPromise(values)) throw new TypeError("Returned a promise instead of scores");
  if (values.length !== wanted) throw new RangeError(`Returned ${values.length} scores for ${wanted} candidates`);
  for (let i = 0; i < wanted; i++) {
    const value = values[i]!;
    if (value !== null && !(value >= 0 && value <= 1)) throw new RangeError(`Score ${value} is not in [0, 1]`);
  }
}

/** The scorer's confidence for each candidate, in [0, 1]; undefined when all are 1. */
function partialConfidences(scorer: Scorer, candidates: readonly Endpoint[], load: LoadView): Float64Array | undefined {
  if (scorer.confidence === undefined) return undefined;
  let confidences: Float64Array | undefined;
  for (let i = 0; i < candidates.length; i++) {
    const confidence = scorer.confidence(candidates[i]!, load);
    if (confidence === 1) continue;
    if (!(confidence >= 0 && confidence <= 1)) throw new RangeError(`Confidence ${confidence} is not in [0, 1]`);
    confidences ??= new Float64Array(candidates.length).fill(1);
    confidences[i] = confidence;
  }
  return confidences;
}

function addColumn(
  values: ArrayLike<number | null>,
  weight: number,
  confidences: Float64Array | undefined,
  totals: number[],
  weights: Float64Array,
): void {
  for (let i = 0; i < totals.length; i++) {
    const value = values[i]!;
    if (value === null) continue;
    const effective = confidences === undefined ? weight : weight * confidences[i]!;
    totals[i]! += effective * value;
    weights[i]! += effective;
  }
}
