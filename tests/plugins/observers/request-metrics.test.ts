import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import type { Outcome } from "../../../core/contract/outcome.ts";
import requestMetrics from "../../../plugins/observers/request-metrics.ts";
import { makeEndpoint, makeEndpoints, makeRequest } from "../../support/endpoints.ts";
import { createPlugin } from "../../support/plugins.ts";
import { makeAttempt, makeDecision, makeOutcome } from "../../support/records.ts";
import { makeView } from "../../support/view.ts";

const VIEW = makeView(makeEndpoints(3));

/** Samples other than 0, histogram buckets left out, after these requests. */
function samplesAfter(records: Iterable<Partial<Outcome>>, parameters: unknown = {}, view = VIEW): readonly string[] {
  const metrics = createPlugin(requestMetrics, parameters);
  for (const record of records) metrics.finished(makeOutcome(record));
  const text = metrics.pages?.[0]?.render(view, new URLSearchParams()) ?? "";
  return text
    .split("\n")
    .filter(
      (line) =>
        /^signalbox_(?!endpoint|prefix|start|rewrite_target|body|unread|memory|log|accept|config)/.test(line) &&
        !/_bucket|\} 0$|l 0$/.test(line),
    );
}

const CHAT = 'api="chat-completions"';
const VOLUME = [
  `signalbox_request_bytes_total{${CHAT}} 400`,
  `signalbox_response_bytes_total{${CHAT}} 2000`,
  `signalbox_request_duration_seconds_sum{${CHAT}} 0.8`,
  `signalbox_request_duration_seconds_count{${CHAT}} 1`,
];
const FIRST_BYTE = [
  `signalbox_time_to_first_byte_seconds_sum{${CHAT}} 0.09`,
  `signalbox_time_to_first_byte_seconds_count{${CHAT}} 1`,
];

describe("what is counted", () => {
  const cases: readonly [name: string, record: Partial<Outcome>, samples: readonly string[]][] = [
    [
      "a response",
      {},
      [
        `signalbox_requests_total{${CHAT},endpoint="e1",status="2xx"} 1`,
        'signalbox_attempts_total{endpoint="e1",result="2xx"} 1',
        ...VOLUME,
        ...FIRST_BYTE,
      ],
    ],
    [
      "a retried and rewritten request",
      {
        decision: makeDecision({ model: "food", target: "food-v2", rule: "food/0" }),
        attempts: [makeAttempt("e0", "connect-failed"), makeAttempt("e2", 503), makeAttempt("e1", 200)],
      },
      [
        `signalbox_requests_total{${CHAT},endpoint="e1",status="2xx"} 1`,
        'signalbox_attempts_total{endpoint="e0",result="connect-failed"} 1',
        'signalbox_attempts_total{endpoint="e2",result="5xx"} 1',
        'signalbox_attempts_total{endpoint="e1",result="2xx"} 1',
        'signalbox_rewrite_total{rule="food/0",target="food-v2"} 1',
        ...VOLUME,
        ...FIRST_BYTE,
      ],
    ],
    [
      "a refusal",
      { status: 404, error: { code: "model_not_found", message: "Why." }, attempts: [], firstByteMs: Number.NaN },
      [
        `signalbox_requests_total{${CHAT},endpoint="none",status="4xx"} 1`,
        'signalbox_request_errors_total{code="model_not_found"} 1',
        ...VOLUME,
      ],
    ],
    [
      "a client that left",
      { status: 0, ending: "client-left", attempts: [makeAttempt("e1", "aborted")], firstByteMs: Number.NaN },
      [
        `signalbox_requests_total{${CHAT},endpoint="e1",status="none"} 1`,
        'signalbox_attempts_total{endpoint="e1",result="aborted"} 1',
        "signalbox_client_left_total 1",
        ...VOLUME,
      ],
    ],
    [
      "a stream that broke",
      { ending: "broken", error: { code: "upstream_reset", message: "Why." } },
      [
        `signalbox_requests_total{${CHAT},endpoint="e1",status="2xx"} 1`,
        'signalbox_request_errors_total{code="upstream_reset"} 1',
        'signalbox_attempts_total{endpoint="e1",result="2xx"} 1',
        "signalbox_stream_broken_total 1",
        ...VOLUME,
        ...FIRST_BYTE,
      ],
    ],
    [
      "a probe of the router itself",
      { api: "", decision: undefined, request: undefined, attempts: [], firstByteMs: Number.NaN, responseBytes: 0 },
      ['signalbox_requests_total{api="none",endpoint="none",status="2xx"} 1'],
    ],
  ];
  for (const [name, record, samples] of cases) it(name, () => assert.deepEqual(samplesAfter([record]), samples));
});

describe("what replicas report about their caches", () => {
  const usage = { promptTokens: 110, outputTokens: 4, cachedTokens: 80 };
  const cases: readonly [name: string, records: readonly Partial<Outcome>[], samples: readonly string[]][] = [
    [
      "stands beside what was predicted, with the error added up",
      [
        { usage, predictedTokens: 64 },
        { usage, predictedTokens: 90 },
      ],
      ["prompt_tokens 220", "reported_tokens 160", "predicted_tokens 154", "error_tokens 26"],
    ],
    ["without an index nothing is predicted", [{ usage }], ["prompt_tokens 110", "reported_tokens 80"]],
    [
      "a report without cached tokens counts nothing",
      [{ usage: { ...usage, cachedTokens: Number.NaN }, predictedTokens: 64 }],
      [],
    ],
    ["no report", [{ predictedTokens: 64 }], []],
  ];
  for (const [name, records, samples] of cases) {
    it(name, () => {
      const metrics = createPlugin(requestMetrics, {});
      for (const record of records) metrics.finished(makeOutcome(record));
      const text = metrics.pages?.[0]?.render(VIEW, new URLSearchParams()) ?? "";
      const found = [...text.matchAll(/^signalbox_prefix_(\w+)_total\{endpoint="e1"\} (\d+)$/gm)].map(
        ([, family, count]) => `${family} ${count}`,
      );
      assert.deepEqual(found, samples);
    });
  }
});

test("a name that a client invents makes no series", () => {
  const records = Array.from({ length: 1000 }, (_, index) => {
    const model = `made-up-${index}`;
    return { id: model, request: makeRequest({ model }), decision: makeDecision({ model, target: model }), path: `/v1/${model}` };
  });
  assert.equal(samplesAfter(records).length, samplesAfter([{}]).length);
});

test("endpoints that come and go do not make the page grow without limit", () => {
  const records = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ attempts: [makeAttempt(`pod-${index}`, 200)] }));
  assert.ok(samplesAfter(records(1000), { maxSeries: 16 }).length < 50);
  const lines = samplesAfter(records(8), { maxSeries: 16 }, makeView([makeEndpoint(0, { name: "pod-7" })]));
  assert.deepEqual(lines.slice(0, 2), [
    `signalbox_requests_total{${CHAT},endpoint="other",status="2xx"} 7`,
    `signalbox_requests_total{${CHAT},endpoint="pod-7",status="2xx"} 1`,
  ]);
});
