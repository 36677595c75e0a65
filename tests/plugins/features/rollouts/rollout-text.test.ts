import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { GuardState, TargetFigures } from "../../../../plugins/features/rollouts/rollout-shapes.ts";
import { figuresText, guardText } from "../../../../plugins/features/rollouts/rollout-text.ts";

const FIGURES: TargetFigures = {
  since: "2030-01-01T00:00:00.000Z",
  requests: 1234,
  unjudged: 0,
  errors: 12,
  errorRate: { value: 0.00972, low: 0.0056, high: 0.0169 },
  ttftMs: {
    count: 1222,
    mean: { value: 123.4, low: 120.1, high: 126.7 },
    p50: { value: 101, low: 99, high: 104 },
    p95: { value: 1512, low: 480, high: null },
  },
  tokensPerSecond: null,
  finishReasons: { length: 2, stop: 1220 },
  cachedShare: 0.314,
};

describe("the figures of a target", () => {
  test("in one line, with intervals where they are known", () => {
    assert.equal(
      figuresText(FIGURES),
      "1,234 requests; errors 1% (0.6% to 1.7%); ttft mean 123 (120 to 127), p50 101 (99 to 104), p95 1,512 ms; ended by stop 1220, length 2; cached 31.4%",
    );
  });

  test("before the first request there are none", () => {
    assert.equal(figuresText(null), "");
    assert.equal(figuresText({ ...FIGURES, requests: 0 }), "");
  });
});

describe("a guard", () => {
  const guard: GuardState = {
    against: "v1",
    state: "watching",
    text: "It found v2 not worse so far.",
    stoppedAt: null,
    stops: 0,
    requests: 20,
    minRequests: 50,
    confidence: 0.95,
    tests: [{ what: "errorRate", worseBy: 0.02, evidence: 3.456, needed: 20 }],
  };
  const cases: readonly (readonly [overrides: Partial<GuardState>, text: string])[] = [
    [
      {},
      "guarded against v1; 20 requests judged, at least 50 before a stop; evidence that it is worse, of what stops it: error rate 17.3%",
    ],
    [
      { state: "stopped", stoppedAt: "2030-01-01T00:00:00.000Z", text: "v2 fails." },
      "stopped by its guard at 2030-01-01T00:00:00.000Z: v2 fails.",
    ],
    [{ state: "blocked", text: "v2 fails. It is not stopped: no." }, "its guard would stop it. v2 fails. It is not stopped: no."],
    [{ state: "idle", text: "It waits." }, "guarded against v1. It waits."],
  ];
  for (const [overrides, text] of cases) test(text, () => assert.equal(guardText({ ...guard, ...overrides }), text));
});
