import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decisionLine } from "../../../../apps/cli/explain/decision-text.ts";
import { reportOf } from "../../../../core/report/decision-report.ts";
import type { DecisionReport } from "../../../../core/report/report-schema.ts";
import { makeDecision, makeOutcome } from "../../../../core/test-kit/records.ts";

const plain = reportOf({
  ...makeOutcome({ durationMs: 812.4, firstByteMs: 90.6, decision: makeDecision({ model: "m", target: "m" }) }),
  isStream: false,
  promptTokens: 0,
  refusal: undefined,
});

describe("one line for each decision", () => {
  const rows: readonly (readonly [overrides: Partial<DecisionReport>, line: string])[] = [
    [{}, "00:00:00.000  200     812 ms  first 91 ms      m  e1  r1"],
    [{ target: "m-v2", durationMs: 12_340 }, "00:00:00.000  200     12.3 s  first 91 ms      m -> m-v2  e1  r1"],
    [
      {
        attempts: [
          { endpoint: "e2", result: "reset", startedMs: 1, endedMs: 2 },
          { endpoint: "e1", result: 200, startedMs: 1, endedMs: 2 },
        ],
      },
      "00:00:00.000  200     812 ms  first 91 ms      m  e2 (reset), e1 (200)  r1",
    ],
    [
      { status: 404, errorCode: "model_not_found", attempts: [], firstByteMs: null },
      "00:00:00.000  404     812 ms  first -          m  (no replica)  r1  model_not_found",
    ],
    [
      {
        status: 0,
        ending: "client-left",
        attempts: [{ endpoint: "e1", result: "aborted", startedMs: 1, endedMs: 2 }],
        firstByteMs: null,
      },
      "00:00:00.000    -     812 ms  first -          m  e1 (aborted)  r1  client-left",
    ],
    [
      { status: 400, errorCode: "invalid_json", model: "", target: "", attempts: [], firstByteMs: null },
      "00:00:00.000  400     812 ms  first -          (no model)  (no replica)  r1  invalid_json",
    ],
  ];
  for (const [overrides, line] of rows) it(line.slice(14), () => assert.equal(decisionLine({ ...plain, ...overrides }), line));
});
