import type { Decision, Leg } from "../contract/decision.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { Attempt, Outcome } from "../contract/outcome.ts";
import { makeEndpoints, makeRequest } from "../contract/test-kit.ts";

/** A choice among three endpoints that one scorer tells apart: "e1" first. The overrides are those of the decision and of its leg. */
export function makeDecision(overrides: Partial<Decision & Leg> = {}): Decision {
  const endpoints: readonly Endpoint[] = overrides.endpoints ?? makeEndpoints(3);
  const candidates = overrides.candidates ?? endpoints;
  return {
    requestId: "r1",
    atMs: overrides.atMs ?? 0,
    model: overrides.model ?? "base",
    target: overrides.target ?? "base",
    rule: overrides.rule ?? "",
    draw: overrides.draw,
    endpoints,
    legs: [
      {
        profile: overrides.profile ?? "default",
        dropped: overrides.dropped ?? [],
        candidates,
        scores: overrides.scores ?? [{ scorer: "queue", weight: 1, values: [0.5, 1, 0] }],
        totals: overrides.totals ?? [0.5, 1, 0],
        picker: overrides.picker ?? "max-score",
        pickerType: overrides.pickerType ?? "max-score",
        order: overrides.order ?? [1, 0, 2].flatMap((index) => candidates[index] ?? []),
        isPlaced: overrides.isPlaced ?? false,
        estimates: overrides.estimates ?? [],
      },
    ],
    refusal: overrides.refusal,
    faults: overrides.faults ?? [],
  };
}

/** A try that took from 12 to 800 ms of its request. */
export function makeAttempt(endpoint: string, result: Attempt["result"]): Attempt {
  return { endpoint, result, startedMs: 12, endedMs: 800 };
}

/** A chat request that "e1" answered. */
export function makeOutcome(overrides: Partial<Outcome> = {}): Outcome {
  return {
    request: makeRequest({ promptTokens: 100 }),
    decision: makeDecision(),
    attempts: [makeAttempt("e1", 200)],
    id: "r1",
    api: "chat-completions",
    method: "POST",
    path: "/v1/chat/completions",
    status: 200,
    ending: "complete",
    error: undefined,
    wallMs: Date.UTC(2030, 0, 1),
    times: { receivedMs: 10, admittedMs: 11, decidedMs: 11.5, dispatchedMs: 12, firstByteMs: 100, endMs: 800 },
    overheadUs: 2_000,
    durationMs: 800,
    firstByteMs: 90,
    expectedFirstByteMs: 80,
    requestBytes: 400,
    responseBytes: 2000,
    usage: undefined,
    predictedTokens: undefined,
    outputTokens: Number.NaN,
    isOutputEstimated: false,
    finishReason: "",
    ...overrides,
  };
}
