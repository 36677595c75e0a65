import type { Decision, RequestRecord } from "../../core/contract/decision.ts";
import type { Endpoint } from "../../core/contract/endpoint.ts";
import { makeEndpoints, makeRequest } from "../../core/contract/test-kit.ts";

/** A choice among three endpoints that one scorer tells apart: "e1" first. */
export function makeDecision(overrides: Partial<Decision> = {}): Decision {
  const endpoints: readonly Endpoint[] = overrides.endpoints ?? makeEndpoints(3);
  const candidates = overrides.candidates ?? endpoints;
  return {
    requestId: "r1",
    profile: "default",
    model: "base",
    target: "base",
    rule: "",
    endpoints,
    dropped: [],
    candidates,
    scores: [{ scorer: "queue", weight: 1, values: [0.5, 1, 0] }],
    totals: [0.5, 1, 0],
    order: [1, 0, 2].flatMap((index) => candidates[index] ?? []),
    refusal: undefined,
    faults: [],
    ...overrides,
  };
}

/** A chat request that "e1" answered. */
export function makeRecord(overrides: Partial<RequestRecord> = {}): RequestRecord {
  return {
    request: makeRequest({ promptTokens: 100 }),
    decision: makeDecision(),
    attempts: [{ endpoint: "e1", result: 200 }],
    id: "r1",
    api: "chat-completions",
    method: "POST",
    path: "/v1/chat/completions",
    status: 200,
    errorCode: "",
    ending: "complete",
    wallMs: Date.UTC(2030, 0, 1),
    durationMs: 800,
    firstByteMs: 90,
    requestBytes: 400,
    responseBytes: 2000,
    ...overrides,
  };
}
