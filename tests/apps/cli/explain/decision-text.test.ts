import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { decisionText, dryRunText } from "../../../../apps/cli/explain/decision-text.ts";
import type { DecisionReport } from "../../../../core/report/report-schema.ts";
import { makeAttempt } from "../../../../core/test-kit/records.ts";
import { TEXTS } from "../../../support/section-modules.ts";

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
  session: null,
  wait: null,
  prefill: null,
  pairing: null,
  prefillLeg: null,
  mirrors: [],
  principal: null,
  shadow: null,
  notes: ["Asked in the hour 12."],
  profile: "default",
  model: "food",
  target: "food-v2",
  rule: "food/0",
  draw: {
    by: "share",
    header: "",
    targets: [
      { name: "food-v1", weight: 90 },
      { name: "food-v2", weight: 10 },
    ],
  },
  picker: "max-score",
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
    {
      endpoint: "gpu-1",
      cachedTokens: 1000,
      uncachedTokens: 50,
      waitingTokens: 0,
      firstTokenMs: 12.5,
      total: 0.9,
      scores: [1, 0.7],
      confidences: [1, 1],
    },
    {
      endpoint: "gpu-2",
      cachedTokens: null,
      uncachedTokens: null,
      waitingTokens: 12_000,
      firstTokenMs: null,
      total: 0.45,
      scores: [0.6, null],
      confidences: [0.25, 1],
    },
  ],
  refusal: null,
  faults: [{ plugin: "mine", message: "Score 2 is not in [0, 1]" }],
  attempts: [makeAttempt("gpu-1", "connect-failed"), makeAttempt("gpu-2", 200)],
};

test("a decision as text", () => {
  assert.equal(
    decisionText(report, TEXTS),
    `gpu-1 was best with 0.900; the next had 0.450.

request  req-1, chat-completions, ended 2030-01-01T00:00:00.000Z
outcome  status 200, after 812.3 ms, first byte after 102 ms
tried    gpu-1 (connect-failed), then gpu-2 (200)
model    food -> food-v2, by the rule food/0: drawn by the weights (food-v1 90, food-v2 10)
prompt   about 1,050 tokens, 4,200 bytes
note     Asked in the hour 12.
dropped  by ready: gpu-4
dropped  by serves-model: gpu-3
fault    mine was ignored: Score 2 is not in [0, 1]

2 of 4 replicas could serve it, in the order of the picker max-score:
replica  cached  not cached  waiting  first token               queue x 2  prefix-cache x 1  total
gpu-1     1,000          50        0      12.5 ms                   1.000             0.700  0.900
gpu-2         -           -   12,000            -  0.600 (confidence 25%)                 -  0.450
cached, not cached: tokens of this prompt; waiting: tokens of other prompts that were sent there before;
first token: expected time; -: unknown
`,
  );
});

describe("a target", () => {
  const targets = report.draw!.targets;
  const rows: readonly [name: string, draw: DecisionReport["draw"], text: string][] = [
    ["drawn by a header", { by: "header", header: "x-user", targets }, ": drawn by the header x-user (food-v1 90, food-v2 10)"],
    ["the only one", { by: "share", header: "", targets: targets.slice(1) }, ""],
    ["of a rewriter that does not say how", null, ""],
  ];
  for (const [name, draw, text] of rows) {
    it(name, () => {
      const line = decisionText({ ...report, draw }, TEXTS)
        .split("\n")
        .find((each) => each.startsWith("model"));
      assert.equal(line, `model    food -> food-v2, by the rule food/0${text}`);
    });
  }
});

test("before any speed is known it says so, and what decides meanwhile", () => {
  const candidates = report.candidates.map((candidate) => ({ ...candidate, firstTokenMs: null }));
  const text = decisionText({ ...report, candidates }, TEXTS);
  assert.match(text, /^first token: not known before .* all are taken to be equally fast,\nso prompt tokens .* decide\.$/m);
});

test("of many candidates and dropped replicas only the first are shown", () => {
  const many = Array.from({ length: 40 }, (_, index) => ({ ...report.candidates[0]!, endpoint: `gpu-${index}` }));
  const dropped = [{ filter: "ready", endpoints: many.map(({ endpoint }) => `off-${endpoint}`), reasons: {} }];
  const text = decisionText({ ...report, candidates: many, dropped }, TEXTS);
  assert.match(text, /^gpu-15 .*\nand 24 more, which --json shows\n/m);
  assert.match(text, /off-gpu-15 and 24 more\n/);
});

test("a dry run says that nothing was sent, and what to know of its numbers", () => {
  const { id: _id, status: _status, attempts: _attempts, ...rest } = report;
  const text = dryRunText({ ...rest, isDryRun: true, path: "/v1/completions", notes: ["One.", "Two."] });
  assert.match(text, /^dry run {2}POST \/v1\/completions, chat-completions, as of 2030-01-01T00:00:00.000Z; nothing was sent\n/m);
  assert.match(text, /^note {5}One.\nnote {5}Two.\ndropped/m);
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
    notes: [],
    attempts: [],
  };
  assert.equal(
    decisionText(refused, TEXTS),
    `It ended before it was routed.

request  req-1, chat-completions, ended 2030-01-01T00:00:00.000Z
outcome  no response, client-left, after 12.3 s
tried    none
model    none was read
prompt   about 1,050 tokens, 4,200 bytes
`,
  );
});
