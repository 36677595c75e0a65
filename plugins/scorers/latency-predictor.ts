import { doubleZeros } from "../../core/contract/doubles.ts";
import type { Endpoint } from "../../core/contract/endpoint.ts";
import { uncachedTokens } from "../../core/contract/expected-wait.ts";
import type { LoadView } from "../../core/contract/load-view.ts";
import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";
import type { InferenceRequest } from "../../core/contract/request.ts";
import { LatencyPredictions } from "./latency-predictions.ts";
import { hasTargets, invalidTarget, isInvalid, targetOptions, targetReader } from "./latency-targets.ts";
import { targetScore } from "./target-score.ts";

const weight = z.number().min(0).max(1_000_000);

const options = z.strictObject({
  ...targetOptions,
  /** How much the two targets count where a request has both. */
  ttftWeight: weight.default(0.8),
  tpotWeight: weight.default(0.2),
  /** Which of the endpoints that meet the targets: where the least is wasted, or where the most time is left. */
  headroomSelectionStrategy: z.enum(["least", "most"]).default("least"),
  /** Targets are multiplied by this: below 1 leaves a margin. */
  sloBufferFactor: z.number().positive().max(1_000).default(1),
  /** Without targets: extra milliseconds, beyond the best candidate's, that halve the score. */
  scaleMs: z.number().positive().max(1_000_000_000).default(256),
});

/**
 * Without targets: score = scaleMs / (scaleMs + t - shortest t), t = predicted time to the first token. With targets, see
 * `targetScore`: an endpoint that is predicted to meet them always scores at least 1/2, and any other one less.
 */
export default defineScorer({
  type: "latency-predictor",
  summary: "Prefers the endpoint that is predicted to meet the request's latency targets; without targets, the fastest.",
  options,
  create(parameters, host) {
    host.usePrefixIndex({});
    const predictions = host.keep(1, () => new LatencyPredictions());
    const targets = targetReader(parameters);
    return {
      filter: (request, candidates) => (isInvalid(targets(request)) ? [] : candidates),
      refuse: (request) => invalidTarget(targets(request)),
      score(request, candidates, load) {
        const wanted = targets(request);
        if (!hasTargets(wanted)) return scoresByTime(predictions, request, candidates, load, parameters);
        const scores = doubleZeros(candidates.length);
        for (let index = 0; index < candidates.length; index++) {
          const endpoint = candidates[index]!;
          const ttftUse = predictions.lateFirstTokenMs(request, endpoint, load) / wanted.firstTokenMs || 0;
          const tpotUse = predictions.lateTokenMs(request, endpoint, load) / wanted.tokenMs || 0;
          const uncached = uncachedTokens(request, endpoint.slot) / Math.max(1, request.promptTokens);
          scores[index] = targetScore(ttftUse, tpotUse, uncached, wanted, parameters);
        }
        return scores;
      },
      chosen: (request, endpoint, load) => predictions.sent(request, endpoint, load),
      ended: (request, endpoint, result) => predictions.ended(request, endpoint, result, host.clock.now()),
      estimator: {
        firstTokenMs: (request, endpoint, load) => predictions.firstTokenMs(request, endpoint, load),
        tokenMs: (request, endpoint, load) => predictions.tokenMs(request, endpoint, load),
        targets,
      },
    };
  },
});

function scoresByTime(
  predictions: LatencyPredictions,
  request: InferenceRequest,
  candidates: readonly Endpoint[],
  load: LoadView,
  { scaleMs }: { readonly scaleMs: number },
): number[] {
  // The list of times becomes the list of scores.
  const scores = doubleZeros(candidates.length);
  let shortest = Number.POSITIVE_INFINITY;
  for (let index = 0; index < candidates.length; index++) {
    const ms = predictions.firstTokenMs(request, candidates[index]!, load);
    scores[index] = ms;
    if (ms < shortest) shortest = ms;
  }
  // The parentheses matter: in another order, rounding could make the best score larger than 1.
  for (let index = 0; index < scores.length; index++) scores[index] = scaleMs / (scaleMs + (scores[index]! - shortest));
  return scores;
}
