import { defineScorer, type InferenceRequest, z } from "signalbox/plugin";
import { LatencyModel, noteSent } from "./model.ts";

const ms = z.number().positive().max(86_400_000);

const options = z.strictObject({
  /** Targets of requests without headers: milliseconds to the first token, and for each further one. */
  ttftMs: ms.optional(),
  tpotMs: ms.optional(),
  /** Without targets: extra milliseconds, beyond the best candidate's, that halve the score. */
  scaleMs: ms.default(256),
});

/**
 * With targets: use = the larger of predicted time / target; score = 1 - use / 2 where the targets are met, else 1 / (2 x use).
 * Without: score = scaleMs / (scaleMs + t - shortest t), t = predicted time to the first token.
 */
export default defineScorer({
  type: "latency-predictor",
  summary: "Prefers the endpoint that is predicted to meet the request's latency targets; without targets, the fastest.",
  options,
  create({ ttftMs, tpotMs, scaleMs }, host) {
    host.usePrefixIndex({});
    const model = host.keep(1, () => new LatencyModel());
    return {
      score(request, candidates, load) {
        const times = candidates.map((endpoint) => model.ttftMs(request, endpoint, load));
        const ttftTarget = targetOf(request, "x-llm-d-slo-ttft-ms", ttftMs);
        const tpotTarget = targetOf(request, "x-llm-d-slo-tpot-ms", tpotMs);
        if (ttftTarget === Number.POSITIVE_INFINITY && tpotTarget === ttftTarget) return byTime(times, scaleMs);
        // What is not known yet counts as fast, so that it becomes known.
        return times.map((time, index) =>
          scoreOf(Math.max(time / ttftTarget, (model.tpotMs(candidates[index]!) || 0) / tpotTarget)),
        );
      },
      chosen: (request, endpoint, load) => noteSent(model, request, endpoint, load),
    };
  },
});

/** In milliseconds. A header of 0, or that is no number, means no target. */
function targetOf({ headers }: InferenceRequest, header: string, configured = Number.POSITIVE_INFINITY): number {
  const given = headers.get(header);
  if (given === undefined) return configured;
  return Number(given) > 0 ? Number(given) : Number.POSITIVE_INFINITY;
}

const scoreOf = (use: number) => (use <= 1 ? 1 - use / 2 : 1 / (2 * use));

function byTime(times: readonly number[], scaleMs: number): readonly number[] {
  const shortest = Math.min(...times);
  // The parentheses matter: in another order, rounding could make the best score larger than 1.
  return times.map((time) => scaleMs / (scaleMs + (time - shortest)));
}
