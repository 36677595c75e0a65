import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { defaultParsers } from "../../../config/plugins/instances.ts";
import { builtIns } from "../../../plugins/registry.ts";
import { loaded, picker, shown } from "./support.ts";

/** Prepended to every profile, because the reference leaves these two checks to the cluster. */
const FRONT = ["ready", "serves-model"];

interface Sample {
  readonly name: string;
  readonly keys: string;
  /** The profile without the two prepended filters. */
  readonly profile: readonly string[];
}

const SAMPLES: readonly Sample[] = [
  {
    name: "empty: the reference's own defaults",
    keys: "",
    profile: ["queue-scorer 2", "kv-cache-utilization-scorer 2", "prefix-cache-scorer 3", "max-score"],
  },
  {
    name: "the recommended baseline",
    keys: `plugins:
- type: queue-scorer
- type: kv-cache-utilization-scorer
- type: prefix-cache-scorer
- type: no-hit-lru-scorer
- type: max-score-picker
- type: single-profile-handler
schedulingProfiles:
- name: default
  plugins:
  - { pluginRef: queue-scorer, weight: 2 }
  - { pluginRef: kv-cache-utilization-scorer, weight: 2 }
  - { pluginRef: prefix-cache-scorer, weight: 3.0 }
  - { pluginRef: no-hit-lru-scorer, weight: 2 }
  - { pluginRef: max-score-picker }
`,
    profile: [
      "queue-scorer 2",
      "kv-cache-utilization-scorer 2",
      "prefix-cache-scorer 3",
      "no-hit-lru-scorer 2",
      "max-score-picker",
    ],
  },
  {
    name: "a role, a prefix cache with the sizes of its index, names of its own",
    keys: `plugins:
- { type: approx-prefix-cache-producer, parameters: { maxPrefixTokensToMatch: 4096, lruCapacityPerServer: 31250, autoTune: false } }
- { type: prefix-cache-scorer, name: cache }
- { type: decode-filter }
- { type: max-score-picker, parameters: { maxNumOfEndpoints: 2 } }
schedulingProfiles:
- name: decode
  plugins: [ { pluginRef: decode-filter }, { pluginRef: max-score-picker }, { pluginRef: cache, weight: 2 } ]
`,
    profile: ["decode-filter", "max-score-picker", "cache 2"],
  },
  {
    name: "weights and the picker left out",
    keys: `plugins: [ { type: lora-affinity-scorer }, { type: random-picker, name: dice }, { type: queue-scorer } ]
schedulingProfiles: [ { name: default, plugins: [ { pluginRef: queue-scorer }, { pluginRef: lora-affinity-scorer, weight: null } ] } ]
`,
    profile: ["queue-scorer 1", "lora-affinity-scorer 1", "dice"],
  },
  {
    name: "no profile: the listed plugins are the profile",
    keys: "plugins: [ { type: load-aware-scorer, parameters: { threshold: 10 } }, { type: weighted-random-picker } ]\n",
    profile: ["load-aware-scorer 1", "weighted-random-picker"],
  },
  {
    name: "no profile and no scorer: the default scorers are added",
    keys: "plugins: [ { type: label-selector-filter, parameters: { matchLabels: { gpu: h100 } } } ]\n",
    profile: ["label-selector-filter", "queue-scorer 2", "kv-cache-utilization-scorer 2", "prefix-cache-scorer 3", "max-score"],
  },
  {
    name: "the newer guide",
    keys: `plugins:
- { type: prefix-cache-affinity-filter, parameters: { peakPrefillThroughput: 20000, prefixMatchInfoProducerName: approx-prefix-cache-producer } }
- { type: token-load-scorer, parameters: { inFlightLoadProducerName: inflight-load-producer } }
- { type: inflight-load-producer, parameters: { addEstimatedOutputTokens: false } }
- { type: token-producer, parameters: { modelName: some/model } }
schedulingProfiles: [ { name: default, plugins: [ { pluginRef: prefix-cache-affinity-filter }, { pluginRef: token-load-scorer } ] } ]
`,
    profile: ["prefix-cache-affinity-filter", "token-load-scorer 1", "max-score"],
  },
  {
    name: "a detector that is also a filter",
    keys: `plugins: [ { type: concurrency-detector, name: bound, parameters: { maxConcurrency: 7 } }, { type: active-request-scorer } ]
schedulingProfiles: [ { name: default, plugins: [ { pluginRef: active-request-scorer }, { pluginRef: bound } ] } ]
flowControl: { saturationDetector: { pluginRef: bound } }
`,
    profile: ["active-request-scorer 1", "bound", "max-score"],
  },
  {
    name: "a detector without an entry, referred to by the older key",
    keys: `plugins: [ { type: active-request-scorer } ]
schedulingProfiles: [ { name: default, plugins: [ { pluginRef: active-request-scorer } ] } ]
saturationDetector: {}
`,
    profile: ["utilization-detector", "active-request-scorer 1", "max-score"],
  },
  {
    name: "bursts of equal prompts, beside a lasting index",
    keys: `plugins:
- { type: token-producer, parameters: { modelName: some/model, vllm: { url: "http://render:8000" } } }
- { type: burst-prefix-cache-producer, name: burst, parameters: { windowDurationMs: 50, minColocateBlocks: 2 } }
- { type: prefix-cache-scorer, parameters: { prefixMatchInfoProducerName: burst } }
- { type: prefix-cache-scorer, name: lasting }
schedulingProfiles: [ { name: default, plugins: [ { pluginRef: prefix-cache-scorer, weight: 2 }, { pluginRef: lasting } ] } ]
`,
    profile: ["burst-prefix 2", "lasting 1", "max-score"],
  },
  {
    name: "GPU utilization and topology",
    keys: `plugins:
- { type: dcgm-data-source, name: gpus, parameters: { port: 9401, interval: "1s" } }
- { type: dcgm-extractor }
- { type: topology-extractor, parameters: { zone: zone, hostname: node } }
- { type: topology-affinity-filter, name: near, parameters: { minAffinity: zone, near: { zone: a } } }
- { type: endpoint-attribute-scorer, name: cool, parameters: { attributeKey: GPUUtilization, producer: dcgm-extractor, algorithm: { type: linear_lower_is_better } } }
dataLayer: { sources: [ { pluginRef: gpus, interval: 2s, extractors: [ { pluginRef: dcgm-extractor } ] } ] }
schedulingProfiles: [ { name: default, plugins: [ { pluginRef: near }, { pluginRef: cool, weight: 2 } ] } ]
`,
    profile: ["near", "cool 2", "max-score"],
  },
];

describe("a config of the reference", () => {
  it("has both default filters in front, wherever it lists filters of its own or of ours", async () => {
    const keys = `plugins: [ { type: prefix-cache-affinity-filter }, { type: decode-filter }, { type: serves-model, name: known }, { type: ready }, { type: queue-scorer } ]
schedulingProfiles: [ { name: default, plugins: [ { pluginRef: prefix-cache-affinity-filter }, { pluginRef: decode-filter }, { pluginRef: known }, { pluginRef: queue-scorer }, { pluginRef: ready } ] } ]
`;
    const { config } = await loaded(picker(keys));
    const names = config.profile.plugins.map(({ pluginRef }) => pluginRef);
    assert.deepEqual(names, ["ready", "known", "prefix-cache-affinity-filter", "decode-filter", "queue-scorer", "max-score"]);
  });

  for (const { name, keys, profile } of SAMPLES) {
    it(name, async () => {
      const { config } = await loaded(picker(keys));
      assert.deepEqual(shown(config.profile.plugins), [...FRONT, ...profile]);
    });
  }

  for (const version of ["llm-d.ai/v1alpha1", "llm-d.ai/v1", "inference.networking.x-k8s.io/v1alpha1"]) {
    it(`as ${version}`, async () => {
      const { config } = await loaded(picker("", version));
      assert.equal(config.profile.plugins.length, 6);
    });
  }

  it("keeps the profile's name, its plugins' names, and makes instances of our types", async () => {
    const { config, definitions } = await loaded(picker(SAMPLES[2]!.keys));
    assert.equal(config.profile.name, "decode");
    assert.deepEqual(
      ["cache", "decode-filter", "max-score-picker"].map((name) => definitions.get(name)?.type),
      ["prefix-cache", "by-label", "max-score"],
    );
    assert.deepEqual(config.plugins.find(({ name }) => name === "decode-filter")?.parameters, {
      label: "llm-d.ai/role",
      validValues: ["decode", "prefill-decode", "both", "encode-prefill-decode"],
      allowsNoLabel: true,
    });
  });

  it("takes parameters from the entries in which the reference has them", async () => {
    const parametersOf = async (sample: string, type: string) => {
      const { keys } = SAMPLES.find(({ name }) => name === sample)!;
      return (await loaded(picker(keys))).config.plugins.find((entry) => entry.type === type)?.parameters;
    };
    assert.deepEqual(await parametersOf("bursts of equal prompts, beside a lasting index", "burst-prefix"), {
      windowMs: 50,
      maxPerReplica: -1,
      minSharedTokens: 128,
    });
    const both = "GPU utilization and topology";
    assert.deepEqual(await parametersOf(both, "dcgm"), {
      scheme: "http",
      port: 9401,
      path: "/metrics",
      periodMs: 2000,
      idlePeriodMs: 2000,
    });
    const { labels } = (await parametersOf(both, "topology-filter")) as { labels: Readonly<Record<string, string>> };
    assert.deepEqual([labels["host"], labels["zone"], labels["region"]], ["node", "zone", "topology.kubernetes.io/region"]);
  });

  it("a saturation detector drops no endpoint when all are full; as a filter it drops all", async () => {
    const ofBound = async (keys: string) =>
      (await loaded(picker(keys))).config.plugins.find(({ type }) => type === "concurrency")?.parameters as {
        whenAllFull: string;
      };
    const text =
      "plugins: [ { type: concurrency-detector } ]\nflowControl: { saturationDetector: { pluginRef: concurrency-detector } }\n";
    assert.equal((await ofBound(text)).whenAllFull, "keep");
    assert.equal((await ofBound(SAMPLES[7]!.keys)).whenAllFull, "refuse");
  });

  it("notes what is not taken as it is", async () => {
    const { notes } = await loaded(
      picker(`plugins:
- { type: token-producer, parameters: { modelName: m } }
- { type: prefix-cache-scorer, parameters: { blockSize: 16, lruCapacityPerServer: 5 } }
- { type: random-picker, name: dice, parameters: { maxNumOfEndpoints: 2 } }
`),
    );
    assert.deepEqual(notes, [
      {
        name: "token-producer",
        effect: "no meaning here",
        why: "prompts are hashed as bytes; with spec.kvEvents a replica is asked for a prompt's tokens, and no tokenizer beside it",
      },
      { name: "prefix-cache-scorer", effect: "no meaning here", why: "blockSize, lruCapacityPerServer" },
      { name: "dice", effect: "no meaning here", why: "maxNumOfEndpoints" },
    ]);
  });

  it("accepts feature gates that are always on here", async () => {
    await loaded(picker("featureGates: [ dataLayer, prepareDataPlugins=true, flowControl=false ]\n"));
  });
});

describe("what engines say of their caches", () => {
  const cases: readonly [name: string, plugin: string, events: { port: number; topic: string }, effects: readonly string[]][] = [
    ["by its defaults", "{ type: precise-prefix-cache-producer }", { port: 5557, topic: "kv@" }, ["taken over"]],
    [
      "at the pods' port",
      '{ type: precise-prefix-cache-producer, parameters: { kvEventsConfig: { topicFilter: "", podDiscoveryConfig: { socketPort: 5556 } } } }',
      { port: 5556, topic: "" },
      ["taken over"],
    ],
    [
      "where the reference listens beside",
      '{ type: precise-prefix-cache-producer, parameters: { kvEventsConfig: { zmqEndpoint: "tcp://0.0.0.0:6000" } } }',
      { port: 5557, topic: "kv@" },
      ["taken over", "changed"],
    ],
    [
      "where the reference only listens",
      '{ type: precise-prefix-cache-producer, parameters: { kvEventsConfig: { zmqEndpoint: "tcp://0.0.0.0:6000", discoverPods: false } } }',
      { port: 6000, topic: "kv@" },
      ["taken over", "changed"],
    ],
    [
      "by the older name, which is the scorer as well",
      "{ type: precise-prefix-cache-scorer, name: precise-prefix-cache-producer, parameters: { speculativeIndexing: true, indexerConfig: { kvBlockIndexConfig: {} } } }",
      { port: 5557, topic: "kv@" },
      ["taken over"],
    ],
  ];
  for (const [name, plugin, events, effects] of cases)
    it(name, async () => {
      const keys = `plugins: [ ${plugin}, { type: prefix-cache-scorer, parameters: { prefixMatchInfoProducerName: precise-prefix-cache-producer } } ]\n`;
      const { config, notes } = await loaded(picker(name.startsWith("by the older") ? `plugins: [ ${plugin} ]\n` : keys));
      const { port, topic } = config.features.get("kvEvents") as typeof events;
      assert.deepEqual({ port, topic }, events);
      const noted = notes.filter((note) => note.name === "precise-prefix-cache-producer");
      assert.deepEqual(
        noted.map(({ effect }) => effect),
        effects,
      );
      assert.ok(config.plugins.some(({ type }) => type === "prefix-cache"));
    });

  it("the section of a Router document counts", async () => {
    const router = `${picker("plugins: [ { type: precise-prefix-cache-producer } ]\n")}---
apiVersion: signalbox/v1
kind: Router
spec: { kvEvents: { port: 7000, replayPort: 7001 } }
`;
    const { port, replayPort, topic } = (await loaded(router)).config.features.get("kvEvents") as Readonly<
      Record<string, unknown>
    >;
    assert.deepEqual([port, replayPort, topic], [7000, 7001, ""]);
  });
});

describe("which APIs are served", () => {
  const cases: readonly [name: string, keys: string, parsers: readonly string[]][] = [
    ["all by default", "", defaultParsers(builtIns)],
    ["all with an empty list", "requestHandler: { parsers: [] }\n", defaultParsers(builtIns)],
    [
      "OpenAI's",
      "plugins: [ { type: openai-parser, name: openai } ]\nrequestHandler: { parsers: [ { pluginRef: openai } ] }\n",
      ["completions", "chat-completions", "responses", "embeddings"],
    ],
    ["Anthropic's, by the older key", "parser: { pluginRef: anthropic-parser }\n", ["messages"]],
    [
      "two of them",
      "requestHandler: { parsers: [ { pluginRef: vllmhttp-parser }, { pluginRef: anthropic-parser } ] }\n",
      ["messages", "generate"],
    ],
  ];
  for (const [name, keys, parsers] of cases) {
    it(name, async () => {
      const { config, definitions } = await loaded(picker(keys));
      const names = config.plugins.map((entry) => entry.name).filter((each) => definitions.get(each)?.kind === "parser");
      assert.deepEqual(names, parsers);
    });
  }

  it("passthrough forwards the paths of parsers that are not chosen", async () => {
    const keys =
      "plugins: [ { type: passthrough-parser } ]\nrequestHandler: { parsers: [ { pluginRef: anthropic-parser }, { pluginRef: passthrough-parser } ] }\n";
    const { config, notes } = await loaded(picker(keys));
    const entry = config.plugins.find(({ type }) => type === "passthrough");
    const paths = (entry!.parameters as { routes: { path: string }[] }).routes.map(({ path }) => path);
    assert.ok(["/v1/chat/completions", "/v1/rerank", "/tokenize"].every((path) => paths.includes(path)));
    assert.ok(!paths.includes("/v1/messages"));
    assert.deepEqual(notes, []);
  });
});

describe("the data layer", () => {
  const sources = async (keys: string) =>
    (await loaded(picker(keys))).config.plugins.filter(({ type }) => type === "metrics" || type === "model-list");

  it("reads models and metrics", async () => {
    assert.deepEqual(
      (await sources("")).map(({ name }) => name),
      ["model-list", "metrics"],
    );
  });

  it("accepts a listed source with its path", async () => {
    const keys = `plugins: [ { type: metrics-data-source, parameters: { path: /m } }, { type: core-metrics-extractor }, { type: models-data-source } ]
dataLayer:
  injectDefaults: false
  sources:
  - { pluginRef: metrics-data-source, extractors: [ { pluginRef: core-metrics-extractor } ] }
  - { pluginRef: models-data-source, extractors: [ { pluginRef: models-data-extractor } ] }
`;
    const found = await sources(keys);
    assert.deepEqual(
      found.map(({ name, type }) => [name, type]),
      [
        ["metrics-data-source", "metrics"],
        ["models-data-source", "model-list"],
      ],
    );
    assert.equal((found[0]!.parameters as { path: string }).path, "/m");
  });

  it("reads no metrics if configured so", async () => {
    assert.deepEqual(
      (await sources("dataLayer: { injectDefaults: false }\n")).map(({ name }) => name),
      ["model-list"],
    );
  });
});
