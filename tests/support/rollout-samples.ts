import type { GuardState, TargetFigures } from "../../plugins/features/rollouts/rollout-shapes.ts";

const times = (p50: number, p95: number) => {
  const estimate = (value: number) => ({ value, low: null, high: null });
  return { count: 9, mean: estimate(p50), p50: estimate(p50), p95: estimate(p95) };
};
/** Of a target that requests were sent to. */
export const FIGURES: TargetFigures = {
  since: "2030-01-01T00:00:00.000Z",
  requests: 10,
  unjudged: 1,
  errors: 2,
  errorRate: null,
  ttftMs: times(120, 480),
  tokensPerSecond: times(50, 80),
  finishReasons: { stop: 8 },
  cachedShare: 0.25,
};
/** Of one that was stopped. */
export const GUARD: GuardState = {
  against: "v1",
  state: "stopped",
  text: "v2 fails.",
  stoppedAt: "2030-01-01T00:00:00.000Z",
  stops: 3,
  requests: 60,
  minRequests: 50,
  confidence: 0.95,
  tests: [
    { what: "errorRate", worseBy: 0.02, evidence: 60, needed: 40 },
    { what: "ttft", worseBy: 0.5, evidence: 0.4, needed: 40 },
  ],
};
