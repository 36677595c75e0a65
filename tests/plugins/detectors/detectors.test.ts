import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Detector, EndpointRecord } from "../../../core/contract/detector.ts";
import consecutiveFailures from "../../../plugins/detectors/consecutive-failures.ts";
import emptyAnswers from "../../../plugins/detectors/empty-answers.ts";
import failureRate from "../../../plugins/detectors/failure-rate.ts";
import malformedResponses from "../../../plugins/detectors/malformed-responses.ts";
import missingModel from "../../../plugins/detectors/missing-model.ts";
import noProgress from "../../../plugins/detectors/no-progress.ts";
import slowFirstToken from "../../../plugins/detectors/slow-first-token.ts";
import { createPlugin } from "../../support/plugins.ts";

const CALM: EndpointRecord = {
  endpoint: "e0",
  consecutiveFailures: 0,
  lastFailure: "",
  recentSuccesses: 0,
  recentFailures: 0,
  missingModelCount: 0,
  missingModel: "",
  malformedCount: 0,
  malformedBy: "",
  emptyEvidence: 1,
  emptyShare: Number.NaN,
  quietMs: 0,
  explainedQuietMs: 5_000,
  slowness: Number.NaN,
  excessMs: 0,
};

type Row = readonly [
  name: string,
  record: Partial<EndpointRecord>,
  others: readonly Partial<EndpointRecord>[],
  reason: RegExp | undefined,
];

function table(name: string, detector: Detector, rows: readonly Row[]): void {
  describe(name, () => {
    for (const [row, record, others, reason] of [["a calm endpoint", {}, [{}], undefined] as Row, ...rows]) {
      it(row, () => {
        const found = detector.detect(
          { ...CALM, ...record },
          others.map((other) => ({ ...CALM, ...other })),
        );
        if (reason === undefined) assert.equal(found, undefined);
        else assert.match(found ?? "", reason);
      });
    }
  });
}

table("consecutive failures", createPlugin(consecutiveFailures), [
  ["two", { consecutiveFailures: 2, lastFailure: "reset" }, [], undefined],
  ["three", { consecutiveFailures: 3, lastFailure: "reset" }, [], /^3 failures in a row, the last: reset$/],
]);

const full = { emptyShare: 0.1 };
table("empty answers", createPlugin(emptyAnswers), [
  ["too little evidence", { emptyEvidence: 9_999, emptyShare: 1 }, [full], undefined],
  [
    "enough",
    { emptyEvidence: 1e4, emptyShare: 1 },
    [full, { emptyShare: 0.3 }],
    /^100 % of its latest answers are empty, 20 % elsewhere$/,
  ],
  ["a share that is hardly larger", { emptyEvidence: 1e9, emptyShare: 0.3 }, [full], undefined],
  [
    "others that have not answered",
    { emptyEvidence: 1e4, emptyShare: 0.5 },
    [{}],
    /^50 % of its latest answers are empty, 0 % elsewhere$/,
  ],
]);

const healthy = { recentSuccesses: 90, recentFailures: 0 };
table("failure rate", createPlugin(failureRate), [
  ["half of too few", { recentSuccesses: 4, recentFailures: 5 }, [healthy], undefined],
  ["half of enough", { recentSuccesses: 5, recentFailures: 5 }, [healthy], /^5 of its last 10 requests failed, 0 % elsewhere$/],
  ["a quarter", { recentSuccesses: 30, recentFailures: 10 }, [healthy], undefined],
  ["half, as everywhere", { recentSuccesses: 20, recentFailures: 20 }, [{ recentSuccesses: 20, recentFailures: 20 }], undefined],
  ["all, alone", { recentFailures: 40 }, [], /^40 of its last 40/],
]);

table("no progress", createPlugin(noProgress), [
  ["silence that is explained", { quietMs: 4_900 }, [], undefined],
  ["silence that is not", { quietMs: 5_100 }, [], /no byte came for 5 s$/],
  ["a long prefill ahead", { quietMs: 60_000, explainedQuietMs: 90_000 }, [], undefined],
  ["whatever explains it, at most five minutes", { quietMs: 300_001, explainedQuietMs: 1e9 }, [], /300 s/],
]);

const usual = { slowness: 1.2 };
table("slow first tokens", createPlugin(slowFirstToken), [
  ["five times as slow", { slowness: 6.1, excessMs: 900 }, [usual, usual, usual], /^its first tokens take 5\.1 times as long/],
  ["slow as all others", { slowness: 6, excessMs: 900 }, [{ slowness: 6 }, { slowness: 5 }], undefined],
  ["by little time", { slowness: 9, excessMs: 400 }, [usual], undefined],
  ["nothing to compare with", { slowness: 9, excessMs: 900 }, [{}], undefined],
]);

table("a missing model", createPlugin(missingModel), [
  ["twice", { missingModelCount: 2, missingModel: "m" }, [], undefined],
  ["three times", { missingModelCount: 3, missingModel: "m" }, [], /^3 times 404 for "m", which it lists$/],
]);

table("malformed responses", createPlugin(malformedResponses), [
  ["two", { malformedCount: 2, malformedBy: 'no "choices"' }, [], undefined],
  [
    "three",
    { malformedCount: 3, malformedBy: 'no "choices"' },
    [],
    /^3 responses of status 200 in a row .* the last: no "choices"$/,
  ],
]);
