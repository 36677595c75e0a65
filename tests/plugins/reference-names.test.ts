import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { REFERENCE_NAMES } from "../../plugins/reference-names.ts";
import { builtIns } from "../../plugins/registry.ts";
import { issuesOf } from "../support/plugins.ts";

/** The reference's parameters as our schema converts them. */
function optionsOf(name: string, parameters: unknown): unknown {
  const result = builtIns.get(name)!.options["~standard"].validate(parameters);
  if (result instanceof Promise || result.issues !== undefined) return "refused";
  return result.value;
}

/** The scheduling plugins and sources of the reference, and ours. */
const CATALOGUE: readonly (readonly [name: string, type: string, kind: string])[] = [
  ["queue-scorer", "queue", "scorer"],
  ["running-requests-size-scorer", "running", "scorer"],
  ["kv-cache-utilization-scorer", "kv-cache-utilization", "scorer"],
  ["load-aware-scorer", "load-aware", "scorer"],
  ["active-request-scorer", "active-request", "scorer"],
  ["token-load-scorer", "token-load", "scorer"],
  ["lora-affinity-scorer", "lora-affinity", "scorer"],
  ["prefix-cache-scorer", "prefix-cache", "scorer"],
  ["no-hit-lru-scorer", "no-hit-lru", "scorer"],
  ["session-affinity-scorer", "session-affinity-scorer", "scorer"],
  ["context-length-aware", "context-length-aware", "scorer"],
  ["session-affinity-filter", "session-affinity-filter", "filter"],
  ["label-selector-filter", "label-selector", "filter"],
  ["by-label-selector", "label-selector", "filter"],
  ["by-label", "by-label", "filter"],
  ["decode-filter", "by-label", "filter"],
  ["prefill-filter", "by-label", "filter"],
  ["encode-filter", "by-label", "filter"],
  ["prefix-cache-affinity-filter", "prefix-cache-affinity", "filter"],
  ["utilization-detector", "utilization", "filter"],
  ["concurrency-detector", "concurrency", "filter"],
  ["endpoint-attribute-filter", "attribute-filter", "filter"],
  ["endpoint-attribute-scorer", "attribute-scorer", "scorer"],
  ["topology-affinity-filter", "topology-filter", "filter"],
  ["topology-affinity-scorer", "topology-scorer", "scorer"],
  ["dcgm-data-source", "dcgm", "source"],
  ["max-score-picker", "max-score", "picker"],
  ["random-picker", "random", "picker"],
  ["weighted-random-picker", "weighted-random", "picker"],
  ["metrics-data-source", "metrics", "source"],
  ["models-data-source", "model-list", "source"],
];

test("every name of the reference stands for the plugin that does its job", () => {
  assert.deepEqual(
    CATALOGUE.map(([name]) => [name, builtIns.get(name)?.type, builtIns.get(name)?.kind]),
    CATALOGUE,
  );
  for (const name of Object.keys(REFERENCE_NAMES))
    assert.ok(
      CATALOGUE.some(([listed]) => listed === name),
      name,
    );
});

test("a reference name makes the same plugin", () => {
  for (const [name, type] of CATALOGUE) assert.equal(builtIns.get(name)?.create, builtIns.get(type)?.create);
});

describe("parameters", () => {
  const cases: readonly [name: string, parameters: unknown, ours: unknown][] = [
    ["active-request-scorer", { idleThreshold: 2, requestTimeout: "30s" }, { idleThreshold: 2, maxBusyScore: 1 }],
    ["prefix-cache-scorer", { prefixMatchInfoProducerName: "approx-prefix-cache-producer", blockSizeTokens: 64 }, {}],
    ["no-hit-lru-scorer", { lruSize: 2048, prefixPluginName: "x" }, { lruSize: 2048 }],
    ["token-load-scorer", { queueThresholdTokens: 7, inFlightLoadProducerName: "x" }, { queueThresholdTokens: 7 }],
    ["max-score-picker", { maxNumOfEndpoints: 3 }, {}],
    [
      "utilization-detector",
      { queueDepthThreshold: 9, metricsStalenessThreshold: "200ms" },
      { queueDepthThreshold: 9, kvCacheUtilThreshold: 0.8, headroom: 0 },
    ],
    [
      "endpoint-attribute-scorer",
      { attributeKey: "GPUUtilization", producer: "dcgm-extractor", algorithm: { type: "linear_lower_is_better" } },
      { attributeKey: "GPUUtilization", algorithm: { type: "linear_lower_is_better", normalization: {} } },
    ],
    [
      "dcgm-data-source",
      { insecureSkipVerify: false, useNodeAddress: false },
      { scheme: "http", port: 9400, path: "/metrics", periodMs: 1000, idlePeriodMs: 5000 },
    ],
    ["metrics-data-source", { path: "/prometheus" }, { path: "/prometheus", periodMs: 1000, idlePeriodMs: 5000, engine: "auto" }],
    [
      "metrics-data-source",
      {
        scheme: "http",
        insecureSkipVerify: true,
        caCertPath: "/ca",
        clientCertPath: "/c",
        clientKeyPath: "/k",
        port: 0,
        families: ["a"],
      },
      { path: "/metrics", periodMs: 1000, idlePeriodMs: 5000, engine: "auto" },
    ],
    [
      "metrics-data-source",
      { scheme: "https", insecureSkipVerify: false, caCertPath: "", port: 0 },
      { path: "/metrics", periodMs: 1000, idlePeriodMs: 5000, engine: "auto" },
    ],
    [
      "metrics-data-source",
      { scheme: "http", port: 8008 },
      { path: "/metrics", periodMs: 1000, idlePeriodMs: 5000, engine: "auto", port: 8008, scheme: "http" },
    ],
    [
      "metrics-data-source",
      { scheme: "https", insecureSkipVerify: true },
      { path: "/metrics", periodMs: 1000, idlePeriodMs: 5000, engine: "auto", tls: { insecure: true } },
    ],
    [
      "metrics-data-source",
      { scheme: "https", port: 8443, insecureSkipVerify: false, caCertPath: "/ca", clientCertPath: "/c", clientKeyPath: "/k" },
      {
        ...{ path: "/metrics", periodMs: 1000, idlePeriodMs: 5000, engine: "auto", port: 8443, scheme: "https" },
        tls: { caFile: "/ca", certFile: "/c", keyFile: "/k", insecure: false },
      },
    ],
    [
      "dcgm-data-source",
      { scheme: "https", insecureSkipVerify: true },
      { scheme: "https", port: 9400, path: "/metrics", periodMs: 1000, idlePeriodMs: 5000, tls: { insecure: true } },
    ],
    ["models-data-source", { scheme: "https", path: "/v1/models", insecureSkipVerify: false }, { periodMs: 5000 }],
    ["models-data-source", { scheme: "http", insecureSkipVerify: true }, { periodMs: 5000 }],
    [
      "dcgm-data-source",
      { insecureSkipVerify: true, useNodeAddress: true, addressLabel: "node" },
      { scheme: "http", port: 9400, path: "/metrics", periodMs: 1000, idlePeriodMs: 5000, addressLabel: "node" },
    ],
    [
      "endpoint-attribute-scorer",
      { attributeKey: "a", source: "endpoint", metadataField: "f", algorithm: { type: "linear_lower_is_better" } },
      { attributeKey: "a", algorithm: { type: "linear_lower_is_better", normalization: {} } },
    ],
    [
      "decode-filter",
      {},
      { label: "llm-d.ai/role", validValues: ["decode", "prefill-decode", "both", "encode-prefill-decode"], allowsNoLabel: true },
    ],
  ];
  for (const [name, parameters, ours] of cases) {
    it(`of ${name}`, () => assert.deepEqual(optionsOf(name, parameters), ours));
  }

  const refused: readonly [name: string, parameters: unknown, path: readonly unknown[], message: RegExp][] = [
    ["metrics-data-source", { scheme: "ftp" }, ["scheme"], /http/],
    ["metrics-data-source", { scheme: "https", insecureSkipVerify: "yes" }, ["insecureSkipVerify"], /boolean/],
    ["metrics-data-source", { scheme: "https", caCertPath: 5 }, ["caCertPath"], /string/],
    ["metrics-data-source", { scheme: "https", clientKeyPath: "/k" }, ["tls"], /certFile and keyFile together/],
    ["metrics-data-source", { port: 70_000 }, ["port"], /./],
    ["models-data-source", { scheme: "https", clientKeyPath: "/k" }, ["clientKeyPath"], /keyFile/],
    ["dcgm-data-source", { scheme: "https", insecureSkipVerify: "yes" }, ["insecureSkipVerify"], /boolean/],
    ["dcgm-data-source", { useNodeAddress: true }, ["useNodeAddress"], /addressLabel names a label/],
    [
      "endpoint-attribute-scorer",
      { source: "metadata", attributeKey: "a", algorithm: { type: "linear_lower_is_better" } },
      ["source"],
      /endpoint, or leave it out/,
    ],
    ["models-data-source", { path: "/x" }, ["path"], /it is \/v1\/models/],
    ["queue-scorer", { threshold: 1 }, [], /Unrecognized/],
    ["decode-filter", { label: "x" }, [], /Unrecognized/],
    ["max-score-picker", { maxNumOfEndpoint: 1 }, [], /Unrecognized/],
    ["no-hit-lru-scorer", { lruSize: "2048" }, ["lruSize"], /number/],
    ["max-score-picker", [], [], /object/],
    ["max-score-picker", "x", [], /object/],
  ];
  for (const [name, parameters, path, message] of refused) {
    it(`of ${name} that are refused: ${JSON.stringify(parameters)}`, () => {
      const [issue, ...others] = issuesOf(builtIns.get(name)!, parameters);
      assert.deepEqual([issue?.path, others.length], [path, 0]);
      assert.match(issue?.message ?? "", message);
    });
  }
});
