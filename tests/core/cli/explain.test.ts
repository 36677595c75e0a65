import assert from "node:assert/strict";
import { test } from "node:test";
import { decisionText } from "../../../core/cli/explain.ts";
import type { DecisionReport } from "../../../core/contract/decision-report.ts";
import { makeAttempt } from "../../support/records.ts";

const report: DecisionReport = {
  id: "req-1",
  time: "2030-01-01T00:00:00.000Z",
  api: "chat-completions",
  status: 200,
  ending: "complete",
  errorCode: "",
  durationMs: 812.34,
  firstByteMs: 101.96,
  requestBytes: 4200,
  responseBytes: 2000,
  isStream: true,
  promptTokens: 1050,
  cache: null,
  profile: "default",
  model: "food",
  target: "food-v2",
  rule: "food/0",
  why: "gpu-1 was best with 0.900; the next had 0.450.",
  poolSize: 4,
  dropped: [
    { filter: "ready", endpoints: ["gpu-4"], reasons: {} },
    { filter: "serves-model", endpoints: ["gpu-3"], reasons: {} },
  ],
  scorers: [
    { name: "queue", weight: 2 },
    { name: "prefix-cache", weight: 1 },
  ],
  candidates: [
    { endpoint: "gpu-1", total: 0.9, scores: [1, 0.7], confidences: [1, 1] },
    { endpoint: "gpu-2", total: 0.45, scores: [0.6, null], confidences: [0.25, 1] },
  ],
  refusal: null,
  faults: [{ plugin: "mine", message: "Score 2 is not in [0, 1]" }],
  attempts: [makeAttempt("gpu-1", "connect-failed"), makeAttempt("gpu-2", 200)],
  mirrors: [],
  shadow: null,
};

test("a decision as text", () => {
  assert.equal(
    decisionText(report),
    `request  req-1, chat-completions, ended 2030-01-01T00:00:00.000Z
outcome  status 200, after 812.3 ms, first byte after 102 ms
model    food -> food-v2, by the rule food/0
prompt   about 1,050 tokens, 4,200 bytes
dropped  by ready: gpu-4
dropped  by serves-model: gpu-3
fault    mine was ignored: Score 2 is not in [0, 1]
why      gpu-1 was best with 0.900; the next had 0.450.
tried    gpu-1 (connect-failed), then gpu-2 (200)

2 of 4 replicas could serve it:
replica               queue x 2  prefix-cache x 1  total
gpu-1                     1.000             0.700  0.900
gpu-2    0.600 (confidence 25%)                 -  0.450
`,
  );
});

test("a request that ended before it was routed", () => {
  const refused: DecisionReport = {
    ...report,
    status: 0,
    ending: "client-left",
    durationMs: 12_345,
    firstByteMs: null,
    model: "",
    target: "",
    rule: "",
    why: "It ended before it was routed.",
    dropped: [],
    candidates: [],
    faults: [],
    attempts: [],
  };
  assert.equal(
    decisionText(refused),
    `request  req-1, chat-completions, ended 2030-01-01T00:00:00.000Z
outcome  no response, client-left, after 12.3 s
model    none was read
prompt   about 1,050 tokens, 4,200 bytes
why      It ended before it was routed.
tried    none
`,
  );
});
