import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { type EndedRequest, reportOf } from "../../../core/report/decision-report.ts";
import { makeAttempt, makeDecision, makeOutcome } from "../../../core/test-kit/records.ts";
import { makeEndpoint, makeEndpoints } from "../../support/endpoints.ts";

const endpoints = makeEndpoints(3);
const [e0, e1, e2] = [endpoints[0]!, endpoints[1]!, endpoints[2]!];

function ended(decision: Parameters<typeof makeDecision>[0], overrides: Partial<EndedRequest> = {}): EndedRequest {
  const { request: _request, decision: _decision, ...record } = makeOutcome();
  return {
    ...record,
    isStream: false,
    promptTokens: 100,
    decision: decision && makeDecision({ endpoints, ...decision }),
    refusal: undefined,
    ...overrides,
  };
}

test("a decision as plain JSON", () => {
  const decision = {
    model: "food",
    target: "food-v2",
    rule: "food/0",
    dropped: [{ filter: "ready", endpoints: [e2] }],
    candidates: [e0, e1],
    scores: [
      { scorer: "queue", weight: 2, values: [0.5, null] },
      { scorer: "cache", weight: 1, values: [0, 1], confidences: [1, 0.5] },
    ],
    totals: Float64Array.of(0.25, 0.75),
    order: [e1, e0],
    estimates: [64, 12.4, 6.26, Number.NaN, 0, Number.NaN],
    faults: [{ plugin: "mine", message: "Returned 1 scores for 2 candidates" }],
  };
  const usage = { promptTokens: 110, outputTokens: 4, cachedTokens: 80 };
  const report = reportOf(ended(decision, { usage, predictedTokens: 64 }));
  assert.deepEqual(JSON.parse(JSON.stringify(report)), {
    id: "r1",
    time: "2030-01-01T00:00:00.000Z",
    api: "chat-completions",
    status: 200,
    ending: "complete",
    errorCode: "",
    durationMs: 800,
    firstByteMs: 90,
    requestBytes: 400,
    responseBytes: 2000,
    isStream: false,
    promptTokens: 100,
    cache: { predictedTokens: 64, reportedTokens: 80, reportedPromptTokens: 110 },
    profile: "default",
    model: "food",
    target: "food-v2",
    rule: "food/0",
    draw: null,
    why: "e1 was best: it scored 0.750, e0 0.250, mostly by cache. 64 of 100 prompt tokens are cached there and 12 tokens of other prompts wait there.",
    picker: "max-score",
    poolSize: 3,
    dropped: [{ filter: "ready", endpoints: ["e2"], reasons: {} }],
    scorers: [
      { name: "queue", weight: 2 },
      { name: "cache", weight: 1 },
    ],
    candidates: [
      {
        endpoint: "e1",
        cachedTokens: 64,
        uncachedTokens: 36,
        waitingTokens: 12,
        firstTokenMs: 6.3,
        total: 0.75,
        scores: [null, 1],
        confidences: [1, 0.5],
      },
      {
        endpoint: "e0",
        cachedTokens: null,
        uncachedTokens: null,
        waitingTokens: 0,
        firstTokenMs: null,
        total: 0.25,
        scores: [0.5, 0],
        confidences: [1, 1],
      },
    ],
    refusal: null,
    faults: [{ plugin: "mine", message: "Returned 1 scores for 2 candidates" }],
    pairing: null,
    prefillLeg: null,
    prefill: null,
    mirrors: [],
    notes: [],
    principal: null,
    wait: null,
    session: null,
    shadow: null,
    attempts: [makeAttempt("e1", 200)],
  });
});

test("what is not known is null", () => {
  const shadow = { profile: "candidate", endpoint: "e0", refusal: "", isSame: false, differenceMs: Number.NaN };
  const copy = { rule: "r", target: "v2", skipped: "", endpoint: "e0", status: 0, responseBytes: 0, ending: "" } as const;
  const mirrors = [{ ...copy, firstByteMs: Number.NaN }];
  const report = reportOf(ended({}, { firstByteMs: Number.NaN, shadow, mirrors }));
  assert.deepEqual([report.firstByteMs, report.shadow?.differenceMs, report.mirrors[0]?.firstByteMs], [null, null, null]);
});

describe("why", () => {
  const cases: readonly [name: string, ended: EndedRequest, why: string][] = [
    [
      "after a retry",
      ended(
        {},
        {
          attempts: [
            makeAttempt("e1", "connect-failed"),
            makeAttempt("e0", 503),
            makeAttempt("e2", 200),
            makeAttempt("e2", "reset"),
          ],
        },
      ),
      "e1 was best: it scored 1.000, e0 0.500. Failed tries before the last: e1 (connect-failed), e0 (503).",
    ],
    [
      "a refusal",
      ended({ order: [] }, { refusal: { code: "no_ready_endpoint", message: "No replica is ready." } }),
      "No replica is ready.",
    ],
    [
      "a body that can't be read",
      ended(undefined, { error: { code: "invalid_json", message: "Why." } }),
      "The request could not be routed; its error says why.",
    ],
    ["a client that left early", ended(undefined, { ending: "client-left" }), "The request ended before it was routed."],
  ];
  for (const [name, request, why] of cases) it(name, () => assert.equal(reportOf(request).why, why));
});

test("an endpoint that was dropped because it was ejected says why and for how long", () => {
  const ejection = { reason: "5 resets in a row", sinceMs: 8_000, untilMs: 38_000 };
  const gone = makeEndpoint(2, { phase: "ejected", ejection });
  const dropped = [{ filter: "ready", endpoints: [gone] }];
  assert.deepEqual(reportOf(ended({ atMs: 20_000, dropped })).dropped, [
    {
      filter: "ready",
      endpoints: ["e2"],
      reasons: { e2: "ejected 12 s ago: 5 resets in a row; back in 18 s if one request succeeds then" },
    },
  ]);
});
