import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import type { Outcome } from "../../../core/contract/outcome.ts";
import { makeAttempt, makeDecision, makeOutcome } from "../../../core/test-kit/records.ts";
import requestMetrics from "../../../plugins/observers/request-metrics.ts";
import { makeEndpoint, makeEndpoints, makeRequest } from "../../support/endpoints.ts";
import { createPlugin, makeHost } from "../../support/plugins.ts";
import { makeView } from "../../support/view.ts";

const VIEW = makeView(makeEndpoints(3));

/** The page's lines after these requests. */
function linesAfter(records: Iterable<Partial<Outcome>>, parameters: unknown = {}, view = VIEW): readonly string[] {
  const metrics = createPlugin(requestMetrics, parameters);
  for (const record of records) metrics.finished(makeOutcome(record));
  const text = metrics.pages?.[0]?.render(view, new URLSearchParams()) ?? "";
  metrics.dispose?.();
  // Sums of seconds are not exact.
  return text.split("\n").map((line) => line.replace(/\d\.\d{7,}$/, (sum) => String(Math.round(Number(sum) * 1e6) / 1e6)));
}

/** Of requests only: samples other than 0, without buckets. */
function samplesAfter(records: Iterable<Partial<Outcome>>, parameters: unknown = {}, view = VIEW): readonly string[] {
  return linesAfter(records, parameters, view).filter(
    (line) =>
      /^signalbox_(?!endpoint|pool|prefix_index|start|rewrite_target|body|unread|memory|log|accept|config|heap|plugin)/.test(
        line,
      ) && !/_bucket|\} 0$|l 0$/.test(line),
  );
}

const CHAT = 'api="chat-completions"';
const rowLabels = (endpoint: string, target = "base") => `${CHAT},target="${target}",endpoint="${endpoint}"`;
const volume = (endpoint: string, target = "base") => [
  `signalbox_request_bytes_total{${CHAT}} 400`,
  `signalbox_response_bytes_total{${CHAT}} 2000`,
  `signalbox_request_duration_seconds_sum{${rowLabels(endpoint, target)}} 0.8`,
  `signalbox_request_duration_seconds_count{${rowLabels(endpoint, target)}} 1`,
];
const FIRST_BYTE = [
  `signalbox_time_to_first_byte_seconds_sum{${CHAT}} 0.09`,
  `signalbox_time_to_first_byte_seconds_count{${CHAT}} 1`,
];
/** From the times of makeOutcome. */
const STEPS = [
  "signalbox_admission_wait_seconds_sum 0.001",
  "signalbox_admission_wait_seconds_count 1",
  "signalbox_decision_seconds_sum 0.0005",
  "signalbox_decision_seconds_count 1",
  "signalbox_overhead_seconds_sum 0.002",
  "signalbox_overhead_seconds_count 1",
];
const NO_TIMES = {
  ...{ receivedMs: Number.NaN, admittedMs: Number.NaN, decidedMs: Number.NaN },
  ...{ dispatchedMs: Number.NaN, firstByteMs: Number.NaN, endMs: 800 },
};
const UNSENT = { attempts: [], firstByteMs: Number.NaN, times: NO_TIMES, overheadUs: Number.NaN };

describe("what is counted", () => {
  const cases: readonly [name: string, record: Partial<Outcome>, samples: readonly string[]][] = [
    [
      "a response",
      {},
      [
        `signalbox_requests_total{${rowLabels("e1")},status="2xx"} 1`,
        'signalbox_attempts_total{endpoint="e1",result="2xx"} 1',
        ...volume("e1"),
        ...FIRST_BYTE,
        ...STEPS,
      ],
    ],
    [
      "a retried and rewritten request",
      {
        decision: makeDecision({ model: "food", target: "food-v2", rule: "food/0" }),
        attempts: [makeAttempt("e0", "connect-failed"), makeAttempt("e2", 503), makeAttempt("e1", 200)],
      },
      [
        `signalbox_requests_total{${rowLabels("e1", "food-v2")},status="2xx"} 1`,
        'signalbox_attempts_total{endpoint="e0",result="connect-failed"} 1',
        'signalbox_attempts_total{endpoint="e2",result="5xx"} 1',
        'signalbox_attempts_total{endpoint="e1",result="2xx"} 1',
        'signalbox_retries_total{reason="connect-failed"} 1',
        'signalbox_retries_total{reason="5xx"} 1',
        'signalbox_rewrite_total{rule="food/0",target="food-v2"} 1',
        ...volume("e1", "food-v2"),
        ...FIRST_BYTE,
        ...STEPS,
      ],
    ],
    [
      "a refusal",
      { ...UNSENT, status: 404, error: { code: "model_not_found", message: "Why." } },
      [
        `signalbox_requests_total{${rowLabels("none")},status="4xx"} 1`,
        `signalbox_errors_total{${rowLabels("none")},class="client"} 1`,
        'signalbox_request_errors_total{code="model_not_found"} 1',
        ...volume("none"),
      ],
    ],
    [
      "a client that left",
      { ...UNSENT, status: 0, ending: "client-left", attempts: [makeAttempt("e1", "aborted")] },
      [
        `signalbox_requests_total{${rowLabels("e1")},status="none"} 1`,
        'signalbox_attempts_total{endpoint="e1",result="aborted"} 1',
        "signalbox_client_left_total 1",
        ...volume("e1"),
      ],
    ],
    [
      "a stream that broke",
      { ending: "broken", error: { code: "upstream_reset", message: "Why." } },
      [
        `signalbox_requests_total{${rowLabels("e1")},status="2xx"} 1`,
        `signalbox_errors_total{${rowLabels("e1")},class="replica"} 1`,
        'signalbox_request_errors_total{code="upstream_reset"} 1',
        'signalbox_attempts_total{endpoint="e1",result="2xx"} 1',
        "signalbox_stream_broken_total 1",
        ...volume("e1"),
        ...FIRST_BYTE,
        ...STEPS,
      ],
    ],
    [
      "a probe of the router itself",
      { ...UNSENT, api: "", decision: undefined, request: undefined, responseBytes: 0 },
      ['signalbox_requests_total{api="none",target="none",endpoint="none",status="2xx"} 1'],
    ],
  ];
  for (const [name, record, samples] of cases)
    it(name, () => assert.deepEqual([...samplesAfter([record])].sort(), [...samples].sort()));
});

describe("a stream", () => {
  const stream = { request: makeRequest({ isStream: true }), outputTokens: 8 };
  const cases: readonly [name: string, record: Partial<Outcome>, samples: readonly string[]][] = [
    [
      "has a time to its first token, and one for each further token",
      stream,
      ["time_to_first_token_seconds_sum 0.09", "time_per_output_token_seconds_sum 0.1", "output_tokens_total 8"],
    ],
    [
      "with tokens that were counted here",
      { ...stream, isOutputEstimated: true },
      [
        ...["time_to_first_token_seconds_sum 0.09", "time_per_output_token_seconds_sum 0.1", "output_tokens_total 8"],
        "estimated_output_tokens_total 8",
      ],
    ],
    [
      "of one token has no time for further ones",
      { ...stream, outputTokens: 1 },
      ["time_to_first_token_seconds_sum 0.09", "output_tokens_total 1"],
    ],
    [
      "that broke has none either",
      { ...stream, ending: "broken" },
      ["time_to_first_token_seconds_sum 0.09", "output_tokens_total 8"],
    ],
    ["that is an error has neither", { ...stream, status: 503 }, ["output_tokens_total 8"]],
    ["is told from other responses", { outputTokens: 8 }, ["output_tokens_total 8"]],
  ];
  for (const [name, record, samples] of cases) {
    it(name, () => {
      const found = samplesAfter([record]).map((line) =>
        /^signalbox_(\S*(?:token_seconds_sum|output_tokens_total))\{.*\} (.*)$/.exec(line),
      );
      assert.deepEqual(found.flatMap((match) => (match ? [`${match[1]} ${match[2]}`] : [])).sort(), [...samples].sort());
    });
  }

  it("stands beside what was expected, with the error added up, unless it was retried", () => {
    const retried = { ...stream, attempts: [makeAttempt("e0", "connect-failed"), makeAttempt("e1", 200)] };
    const records = [stream, { ...stream, expectedFirstByteMs: 120 }, { ...stream, expectedFirstByteMs: Number.NaN }, retried];
    const found = samplesAfter(records).filter((line) => line.startsWith("signalbox_ttft"));
    assert.deepEqual(found, [
      'signalbox_ttft_estimates_total{endpoint="e1"} 2',
      'signalbox_ttft_expected_seconds_total{endpoint="e1"} 0.2',
      'signalbox_ttft_seen_seconds_total{endpoint="e1"} 0.18',
      'signalbox_ttft_error_seconds_total{endpoint="e1"} 0.04',
      'signalbox_ttft_error_ratio_total{endpoint="e1",sign="late"} 0.125',
      'signalbox_ttft_error_ratio_total{endpoint="e1",sign="early"} 0.25',
    ]);
  });

  it("has a relative error of at most ten, however little was expected", () => {
    const found = samplesAfter([{ ...stream, expectedFirstByteMs: 0 }]).filter((line) => line.includes("ttft_error_ratio"));
    assert.deepEqual(found, ['signalbox_ttft_error_ratio_total{endpoint="e1",sign="late"} 10']);
  });

  it("has a finish reason, of the words that engines use", () => {
    const found = samplesAfter([{ finishReason: "stop" }, { finishReason: "stop" }, { finishReason: "because\n" }]).filter(
      (line) => line.startsWith("signalbox_finish"),
    );
    assert.deepEqual(found, [
      'signalbox_finish_reasons_total{target="base",reason="stop"} 2',
      'signalbox_finish_reasons_total{target="base",reason="other"} 1',
    ]);
  });
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
      [{ usage: { ...usage, cachedTokens: undefined }, predictedTokens: 64 }],
      [],
    ],
    ["no report", [{ predictedTokens: 64 }], []],
  ];
  for (const [name, records, samples] of cases) {
    it(name, () => {
      const lines = samplesAfter(records).map((line) => /^signalbox_prefix_(\w+)_total\{.*endpoint="e1"\} (\d+)$/.exec(line));
      assert.deepEqual(
        lines.flatMap((match) => (match ? [`${match[1]} ${match[2]}`] : [])),
        samples,
      );
    });
  }
});

describe("the names of OpenTelemetry", () => {
  const stream = {
    request: makeRequest({ isStream: true }),
    outputTokens: 8,
    usage: { promptTokens: 110, outputTokens: 8, cachedTokens: 0 },
  };
  const find = (parameters: unknown) =>
    linesAfter([stream, { ...stream, api: "messages" }], parameters).filter((line) => /^gen_ai.*_(sum|count)/.test(line));
  it("are off by default", () => assert.deepEqual(find({}), []));
  it("show the same measurements with the convention's labels", () => {
    const labels =
      'gen_ai_operation_name="chat",gen_ai_provider_name="signalbox",gen_ai_request_model="base",server_address="e1",api="messages"';
    const found = find({ genAi: true }).filter((line) => line.includes('api="messages"'));
    assert.deepEqual(found, [
      `gen_ai_server_request_duration_seconds_sum{${labels}} 0.8`,
      `gen_ai_server_request_duration_seconds_count{${labels}} 1`,
      `gen_ai_server_time_to_first_token_seconds_sum{${labels}} 0.09`,
      `gen_ai_server_time_to_first_token_seconds_count{${labels}} 1`,
      `gen_ai_server_time_per_output_token_seconds_sum{${labels}} 0.1`,
      `gen_ai_server_time_per_output_token_seconds_count{${labels}} 1`,
      `gen_ai_client_token_usage_sum{${labels},gen_ai_token_type="input"} 110`,
      `gen_ai_client_token_usage_count{${labels},gen_ai_token_type="input"} 1`,
      `gen_ai_client_token_usage_sum{${labels},gen_ai_token_type="output"} 8`,
      `gen_ai_client_token_usage_count{${labels},gen_ai_token_type="output"} 1`,
    ]);
  });
  it("no two series of a page have the same name and labels", () => {
    const names = linesAfter([stream, { ...stream, api: "messages" }, { ...stream, api: "completions" }], { genAi: true })
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => line.slice(0, line.lastIndexOf(" ")));
    assert.equal(new Set(names).size, names.length);
  });
});

/** Every label value of the page that may come from outside. */
const outsideNames = (lines: readonly string[]) =>
  new Set(lines.flatMap((line) => [...line.matchAll(/(?:target|endpoint|model)="([^"]*)"/g)].map(([, name]) => name)));

test("a name that a client invents makes no series", () => {
  const made = (index: number): Partial<Outcome> => {
    const model = `made-up-${index}`;
    const about = {
      id: model,
      request: makeRequest({ model }),
      decision: makeDecision({ model, target: model }),
      path: `/v1/${model}`,
    };
    // Refused; and, where the config lets any name through, sent to a replica that does not care.
    return index % 2 === 0 ? { ...about, ...UNSENT, status: 404, error: { code: "model_not_found", message: "Why." } } : about;
  };
  const lines = linesAfter(
    Array.from({ length: 1000 }, (_, index) => made(index)),
    { genAi: true },
  );
  assert.deepEqual([...outsideNames(lines)].sort(), ["e0", "e1", "e2", "none", "other"]);
  assert.equal(lines.length, linesAfter([made(0), made(1)], { genAi: true }).length);
});

test("a replica's odd model names neither end the page nor make it long", () => {
  const names = ["a\u0000b", 'a"b', "a\\b", "a\nb", "x".repeat(100_000)];
  const records = names.map((target) => ({
    decision: makeDecision({ target, endpoints: [makeEndpoint(0, { models: names })] }),
  }));
  const lines = linesAfter(records);
  assert.equal(lines.join("\n").includes("\u0000"), false);
  assert.deepEqual(
    [...outsideNames(lines.filter((line) => line.startsWith("signalbox_requests")))].map((name) => name?.slice(0, 5)),
    ["a?b", "e1", "a\\", "a\\\\b", "xxxxx"],
  );
  assert.ok(Math.max(...lines.map(({ length }) => length)) < 1000);
});

test("endpoints that come and go do not make the page grow without limit", () => {
  const records = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ attempts: [makeAttempt(`pod-${index}`, 200)] }));
  const few = { maxSeries: 16, maxTraffic: 16 };
  assert.ok(samplesAfter(records(1000), few).length < 120);
  const lines = samplesAfter(records(8), few, makeView([makeEndpoint(0, { name: "pod-7" })]));
  assert.deepEqual(lines.slice(0, 2), [
    `signalbox_requests_total{${rowLabels("other")},status="2xx"} 7`,
    `signalbox_requests_total{${rowLabels("pod-7")},status="2xx"} 1`,
  ]);
});

test("the counts go on over a reload, with the limits of the next config", () => {
  const kept: unknown[] = [];
  const keep = <State>(_version: number, make: () => State) => {
    if (kept.length === 0) kept.push(make());
    return kept[0] as State;
  };
  const before = createPlugin(requestMetrics, {}, makeHost({ keep }));
  before.finished(makeOutcome());
  before.dispose?.();
  const next = createPlugin(requestMetrics, { maxTraffic: 16 }, makeHost({ keep }));
  for (let index = 0; index < 100; index++) next.finished(makeOutcome({ attempts: [makeAttempt(`e${index}`, 200)] }));
  const text = next.pages?.[0]?.render(VIEW, new URLSearchParams()) ?? "";
  next.dispose?.();
  const counts = [...text.matchAll(/^signalbox_requests_total\{.*\} (\d+)$/gm)].map(([, count]) => Number(count));
  assert.ok(counts.length <= 20);
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    101,
  );
});
