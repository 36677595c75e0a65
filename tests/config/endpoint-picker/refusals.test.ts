import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { REFUSED_TYPES, SECTION_TYPES } from "../../../config/plugins/refused-types.ts";
import { builtIns } from "../../../plugins/registry.ts";
import { picker, problemsOf } from "./support.ts";

const NOT_HERE = (type: string) => `found the plugin type "${type}" of the reference router, which has no counterpart here.`;
const NO_ENCODING = "Media are encoded where their prompt is processed: leave out the encode decider and its profile.";

describe("unsupported settings are refused by name, at their place", () => {
  const cases: readonly [name: string, keys: string, problems: readonly string[]][] = [
    [
      "two profiles without a handler for them",
      `plugins: [ { type: prefill-filter } ]
schedulingProfiles:
- { name: prefill, plugins: [ { pluginRef: prefill-filter } ] }
- { name: decode, plugins: [] }
`,
      [
        "6:3  schedulingProfiles[1]  found 2 profiles; wanted exactly one. A disagg-profile-handler has two: one for prompts and one for answers.",
      ],
    ],
    [
      "encoding apart",
      `plugins:
- { type: disagg-profile-handler, parameters: { deciders: { encode: mm, prefill: always-disagg-pd-decider } } }
- { type: always-disagg-multimodal-decider, name: mm }
- { type: always-disagg-pd-decider }
schedulingProfiles:
- { name: encode, plugins: [] }
- { name: prefill, plugins: [] }
- { name: decode, plugins: [] }
`,
      [
        `4:69  plugins[0].parameters.deciders.encode  found the decider "mm", which has no counterpart here. ${NO_ENCODING}`,
        `5:11  plugins[1].type  ${NOT_HERE("always-disagg-multimodal-decider")} ${NO_ENCODING}`,
        `8:11  schedulingProfiles[0].name  found the profile "encode", which has no counterpart here. ${NO_ENCODING}`,
      ],
    ],
    [
      "profiles, deciders and parameters of a handler",
      `plugins:
- type: disagg-profile-handler
  parameters: { stageOrder: prefill-first, profiles: { fallback: all }, deciders: { prefil: x } }
- { type: prefix-based-pd-decider, parameters: { nonCachedTokens: 16, promptTokens: 17 } }
- { type: disagg-headers-handler, parameters: { prefilProfile: p } }
- { type: always-disagg-pd-decider, parameters: { nonCachedTokens: 1 } }
schedulingProfiles:
- { name: decode, plugins: [ { pluginRef: disagg-headers-handler } ] }
`,
      [
        '5:85  plugins[0].parameters.deciders.prefil  found the unknown key "prefil"; wanted one of: prefill, encode. Did you mean "prefill"?',
        '7:49  plugins[2].parameters.prefilProfile  found the unknown key "prefilProfile"; wanted one of: prefillProfile, encodeProfile. Did you mean "prefillProfile"?',
        '8:51  plugins[3].parameters.nonCachedTokens  found the unknown key "nonCachedTokens"; wanted no key of that name.',
        '5:29  plugins[0].parameters.stageOrder  found "prefill-first"; wanted decode-first: whether a prompt is worth it is seen there.',
        '5:66  plugins[0].parameters.profiles.fallback  found "all"; wanted none: endpoints without a role, or with the role both, serve what no pair can.',
        "6:85  plugins[1].parameters.promptTokens  found 17; wanted at most nonCachedTokens: the tokens that are not cached say whether a prompt is worth it, not its length.",
        '10:43  schedulingProfiles[0].plugins[0].pluginRef  found "disagg-headers-handler", which is a header handler; wanted a filter, scorer or picker.',
      ],
    ],
    [
      "a decider and profiles that are not there",
      `plugins:
- { type: prefix-based-pd-decider, name: by-prefix }
- { type: disagg-profile-handler, parameters: { deciders: { prefill: by-prefx } } }
schedulingProfiles:
- { name: decod, plugins: [] }
`,
      [
        '5:70  plugins[1].parameters.deciders.prefill  found "by-prefx"; wanted the name of an entry of the type prefix-based-pd-decider or always-disagg-pd-decider. Did you mean "by-prefix"?',
        '7:1  schedulingProfiles  found no profile "decode"; wanted one of that name, which the disagg-profile-handler runs.',
        '7:1  schedulingProfiles  found no profile "prefill"; wanted one of that name, which the disagg-profile-handler runs.',
        '7:11  schedulingProfiles[0].name  found the profile "decod", which no disagg-profile-handler names. Did you mean "decode"?',
      ],
    ],
    [
      "what the profile of prompts refers to, at its place",
      `plugins:
- { type: pd-profile-handler, parameters: { deciderPluginName: always-disagg-pd-decider, primaryPort: 8000 } }
- { type: always-disagg-pd-decider }
schedulingProfiles:
- { name: prefill, plugins: [ { pluginRef: quue-scorer } ] }
- { name: decode, plugins: [] }
`,
      [
        "4:103  plugins[0].parameters.primaryPort  found 8000; wanted 0: each rank is an endpoint of its own, and gets its requests at its own port.",
        '7:44  schedulingProfiles[0].plugins[0].pluginRef  found "quue-scorer", which is not the name of a plugin; wanted the name of an entry in plugins, or a built-in type. Did you mean "queue-scorer"?',
      ],
    ],
    [
      "what engines say of their caches, twice and at no place",
      `plugins:
- type: precise-prefix-cache-producer
  parameters: { kvEventsConfig: { topicFiler: kv, zmqEndpoint: "ipc://x", podDiscoveryConfig: { socketPort: 0 } } }
- type: precise-prefix-cache-scorer
  parameters: { kvEventsConfig: { engineType: trtllm } }
`,
      [
        '5:35  plugins[0].parameters.kvEventsConfig.topicFiler  found the unknown key "topicFiler"; wanted one of: zmqEndpoint, topicFilter, concurrency, engineType, discoverPods, podDiscoveryConfig. Did you mean "topicFilter"?',
        '5:64  plugins[0].parameters.kvEventsConfig.zmqEndpoint  found "ipc://x"; wanted an address such as tcp://0.0.0.0:5557.',
        "5:109  plugins[0].parameters.kvEventsConfig.podDiscoveryConfig.socketPort  found 0; wanted at least 1.",
        "6:3  plugins[1]  found a second entry that follows engines' events; wanted one of them, or none.",
      ],
    ],
    [
      "an engine whose events nobody reads, by the older name",
      "plugins: [ { type: precise-prefix-cache-scorer, parameters: { kvEventsConfig: { engineType: trtllm } } } ]\n",
      ['3:93  plugins[0].parameters.kvEventsConfig.engineType  found "trtllm"; wanted vllm or sglang: those events are read.'],
    ],
    [
      "flow control",
      `featureGates: [ flowControl ]
plugins:
- { type: fcfs-ordering-policy, parameters: { x: 1 } }
flowControl:
  defaultPriorityBand: { fairnessPolicyRef: round-robin-fairness-policy, orderingPolicyRef: max-score-picker }
  priorityBands: [ { priority: 100, fairnessPolicyRef: global-strict-fairness-policy } ]
  usageLimitPolicyPluginRef: nothing
`,
      [
        "5:45  plugins[0].parameters  found parameters; wanted none: this policy takes none.",
        '7:93  flowControl.defaultPriorityBand.orderingPolicyRef  found "max-score-picker"; wanted the name of a plugin of one of the types: fcfs-ordering-policy, edf-ordering-policy, slo-deadline-ordering-policy.',
        "8:56  flowControl.priorityBands[0].fairnessPolicyRef  found another policy than that of the bands before it; wanted one for all bands.",
        '9:30  flowControl.usageLimitPolicyPluginRef  found "nothing"; wanted the name of a plugin of one of the types: static-usage-limit-policy, priority-holdback-policy, soft-reflective-ceiling-policy.',
      ],
    ],
    [
      "feature gates",
      "featureGates: [ dataLayer=false, flowControll, prepareDataPlugins=maybe ]\n",
      [
        `3:17  featureGates[0]  found "dataLayer=false". Replicas are always probed here; dataLayer.injectDefaults: false leaves out their metrics.`,
        `3:34  featureGates[1]  found the unknown feature gate "flowControll"; wanted dataLayer or prepareDataPlugins or flowControl. Did you mean "flowControl"?`,
        `3:48  featureGates[2]  found "prepareDataPlugins=maybe"; wanted "prepareDataPlugins=true" or "prepareDataPlugins=false".`,
      ],
    ],
    [
      "parameters",
      `plugins:
- { type: single-profile-handler, parameters: { x: 1 } }
- { type: openai-parser, parameters: { propagatePriority: true } }
- { type: inflight-load-producer, parameters: { addEstimatedOutputTokens: true } }
- { type: approx-prefix-cache-producer, parameters: { lruCapacityPerServr: 5 } }
- { type: metrics-data-source, parameters: { scheme: https } }
- { type: models-responder, parameters: [] }
- { type: prefix-cache-affinity-filter, parameters: { ttftSource: latencyPredictor } }
`,
      [
        `4:49  plugins[0].parameters.x  found the unknown key "x"; wanted no parameters.`,
        `7:55  plugins[3].parameters.lruCapacityPerServr  found the unknown key "lruCapacityPerServr"; wanted one of: autoTune, blockSizeTokens, maxPrefixBlocksToMatch, maxPrefixTokensToMatch, lruCapacityPerServer, prefixHashSource. Did you mean "lruCapacityPerServer"?`,
        "5:59  plugins[1].parameters.propagatePriority  found true; wanted nothing here: spec.admission.enginePriority writes priorities into bodies.",
        "6:75  plugins[2].parameters.addEstimatedOutputTokens  found true; wanted nothing here: only prompt tokens count, until the first byte of the response.",
        `8:54  plugins[4].parameters.scheme  found "https", although the url of "gpu1-8000" has another scheme. Leave it out, or name the port of the metrics beside it.`,
        "9:41  plugins[5].parameters  found an empty list; wanted a mapping.",
        `10:67  plugins[6].parameters.ttftSource  found "latencyPredictor"; wanted prefillThroughput: this filter does not ask the latency predictor.`,
      ],
    ],
    [
      "values that contradict what is so, all of them at once",
      `plugins:
- { type: metrics-data-source, parameters: { scheme: https, port: 8443, insecureSkipVerify: 1, caCertPath: /ca.pem, periodM: 5 } }
- { type: models-data-source, parameters: { scheme: https, path: /models } }
- { type: core-metrics-extractor, parameters: { defaultEngine: tgi, engineConfigs: [ { name: tgi } ] } }
dataLayer: { crossReplicaSyncInterval: 1s, crossReplicaSyncerPluginRef: redis }
`,
      [
        '4:117  plugins[0].parameters.periodM  found the unknown key "periodM"; wanted one of: port, scheme, tls, path, periodMs, idlePeriodMs, engine, families, insecureSkipVerify, caCertPath, clientCertPath, clientKeyPath. Did you mean "periodMs"?',
        "4:93  plugins[0].parameters.insecureSkipVerify  found 1; wanted true or false.",
        '5:53  plugins[1].parameters.scheme  found "https", although the url of "gpu1-8000" has another scheme. Leave it out, or name the port of the metrics beside it.',
        '5:66  plugins[1].parameters.path  found "/models"; wanted no path: it is /v1/models.',
        '6:64  plugins[2].parameters.defaultEngine  found "tgi"; wanted one of vllm, sglang, trtllm-serve, triton-tensorrt-llm, triton: the series of others are not known here.',
        "6:84  plugins[2].parameters.engineConfigs  found a list; wanted nothing here: the series of every engine are known; a metrics source's `engine` narrows them.",
        '7:14  dataLayer.crossReplicaSyncInterval  found the key "crossReplicaSyncInterval", which has no meaning here. Routers tell each other by spec.shared of a Router document (docs/several-routers.md): leave it out here.',
        '7:44  dataLayer.crossReplicaSyncerPluginRef  found the key "crossReplicaSyncerPluginRef", which has no meaning here. Routers tell each other by spec.shared of a Router document (docs/several-routers.md): leave it out here.',
      ],
    ],
    [
      "the data layer",
      `plugins: [ { type: file-discovery, parameters: { path: x.yaml, watchFile: yes } }, { type: queue-scorer } ]
dataLayer:
  peerDiscovery: { pluginRef: x }
  discovery: { pluginRef: file-discovery }
  sources:
  - { pluginRef: queue-scorer }
  - { pluginRef: metrics-data-source, extractors: [ { pluginRef: nobody } ] }
`,
      [
        '3:75  plugins[0].parameters.watchFile  found "yes"; wanted true or false.',
        `5:3  dataLayer.peerDiscovery  found the key "peerDiscovery", which has no meaning here. Routers tell each other by spec.shared of a Router document (docs/several-routers.md): leave it out here.`,
        `8:18  dataLayer.sources[0].pluginRef  found "queue-scorer", which is of type "queue-scorer"; wanted metrics-data-source or models-data-source or dcgm-data-source.`,
        `9:66  dataLayer.sources[1].extractors[0].pluginRef  found "nobody", which is not the name of a plugin; wanted an extractor.`,
      ],
    ],
    [
      "GPU metrics",
      `plugins:
- { type: dcgm-data-source, parameters: { port: 94000, interval: 1 minute } }
- { type: dcgm-extractor, parameters: { gpu: 0 } }
- { type: metrics-data-source }
dataLayer:
  sources:
  - { pluginRef: dcgm-data-source, extractors: [ { pluginRef: dcgm-extractr } ] }
  - { pluginRef: metrics-data-source, interval: 1ms }
  - { pluginRef: models-data-source, interval: 5s }
`,
      [
        '5:41  plugins[1].parameters.gpu  found the unknown key "gpu"; wanted no parameters.',
        "4:49  plugins[0].parameters.port  found 94000; wanted at most 65535.",
        '4:66  plugins[0].parameters.interval  found "1 minute"; wanted a time from 50ms to 1h, such as 1s.',
        '9:63  dataLayer.sources[0].extractors[0].pluginRef  found "dcgm-extractr", which is not the name of a plugin; wanted an extractor.',
        '10:49  dataLayer.sources[1].interval  found "1ms"; wanted a time from 50ms to 1h, such as 1s.',
        "11:48  dataLayer.sources[2].interval  found the interval of a source without an entry; wanted the source in plugins too.",
      ],
    ],
    [
      "attributes that nobody gives",
      `plugins:
- { type: dcgm-data-source }
- { type: endpoint-attribute-filter, name: f, parameters: { attribute: GPUUtilisation, algorithm: { type: topK, topK: { k: 1 } } } }
- { type: endpoint-attribute-scorer, name: s, parameters: { attributeKey: queue, algorithm: { type: linear_lower_is_better } } }
`,
      [
        '5:72  plugins[1].parameters.attribute  found the attribute "GPUUtilisation", which no source here gives; wanted GPUUtilization. Did you mean "GPUUtilization"?',
        '6:75  plugins[2].parameters.attributeKey  found the attribute "queue", which no source here gives; wanted GPUUtilization.',
      ],
    ],
    [
      "producers that are none",
      `plugins:
- { type: dcgm-data-source }
- { type: dcgm-extractor, name: gpus }
- { type: topology-affinity-filter, parameters: { topologyProducerName: places, near: { zone: a } } }
- { type: endpoint-attribute-filter, name: f, parameters: { attribute: GPUUtilization/gpu, algorithm: { type: topK, topK: { k: 1 } } } }
- { type: endpoint-attribute-filter, name: g, parameters: { attribute: GPUUtilization/gpus, algorithm: { type: topK, topK: { k: 1 } } } }
- { type: approx-prefix-cache-producer, parameters: { prefixHashSource: metadata } }
`,
      [
        '6:73  plugins[2].parameters.topologyProducerName  found "places"; wanted the name of a producer of the type topology-extractor.',
        '7:59  plugins[3].parameters.producer  found "gpu"; wanted the name of a producer of the type dcgm-extractor. Did you mean "gpus"?',
        '9:73  plugins[5].parameters.prefixHashSource  found "metadata"; wanted nothing here: the router hashes the prompts itself.',
      ],
    ],
    [
      "attributes without a source",
      `plugins:
- { type: endpoint-attribute-filter, name: f, parameters: { attribute: GPUUtilization, algorithm: { type: topK, topK: { k: 1 } } } }
`,
      [
        '4:72  plugins[0].parameters.attribute  found the attribute "GPUUtilization", which no source here gives; wanted a source that gives it in plugins, as dcgm gives GPUUtilization.',
      ],
    ],
    [
      "a burst producer's parameters, and who reads it",
      `plugins:
- { type: burst-prefix-cache-producer, name: b, parameters: { windowDurationM: 5, maxPerReplica: 0 } }
- { type: prefix-cache-scorer, name: p, parameters: { prefixMatchInfoProducerName: bb } }
- { type: prefix-cache-scorer, name: q, parameters: { prefixMatchInfoProducerName: b, blockSize: 16 } }
- { type: no-hit-lru-scorer, parameters: { prefixMatchInfoProducerName: b } }
`,
      [
        '4:63  plugins[0].parameters.windowDurationM  found the unknown key "windowDurationM"; wanted one of: windowDurationMs, maxPerReplica, blockSizeTokens, minColocateBlocks, maxPrefixTokensToMatch, maxBatchSize. Did you mean "windowDurationMs"?',
        '6:87  plugins[2].parameters.blockSize  found the unknown key "blockSize"; wanted one of: windowMs, maxPerReplica, minSharedTokens.',
        "4:98  plugins[0].parameters.maxPerReplica  found 0; wanted -1 for all, or at least 1.",
        '5:84  plugins[1].parameters.prefixMatchInfoProducerName  found "bb"; wanted the name of a producer of the type approx-prefix-cache-producer or precise-prefix-cache-producer or burst-prefix-cache-producer. Did you mean "b"?',
        '7:73  plugins[3].parameters.prefixMatchInfoProducerName  found the burst-prefix-cache-producer "b"; wanted the name of a producer of the type approx-prefix-cache-producer or precise-prefix-cache-producer. Only prefix-cache-scorer reads what it gives.',
      ],
    ],
    [
      "topology without anything to be near to, and its labels",
      `plugins:
- { type: topology-extractor, parameters: { host: x, zone: 7 } }
- { type: topology-affinity-filter, parameters: { minAfinity: zone } }
- { type: data-parallel-profile-handler, parameters: { primaryPort: 80000 } }
`,
      [
        '4:45  plugins[0].parameters.host  found the unknown key "host"; wanted one of: hostname, rack, zone, region. Did you mean "hostname"?',
        '5:51  plugins[1].parameters.minAfinity  found the unknown key "minAfinity"; wanted one of: peerTopologyHeader, nearPeer, near, labels, minAffinity, topologyProducerName. Did you mean "minAffinity"?',
        "4:60  plugins[0].parameters.zone  found 7; wanted text. Put it in quotes.",
        '5:49  plugins[1].parameters.near  found no "near"; wanted near: { zone: NAME } or peerTopologyHeader, because without an earlier choice there is nothing else to be near to.',
        "6:69  plugins[2].parameters.primaryPort  found 80000; wanted at most 65535.",
      ],
    ],
    [
      "references to something else",
      `plugins: [ { type: single-profile-handler, name: h }, { type: queue-scorer }, { type: vllmgrpc-parser } ]
schedulingProfiles: [ { name: default, plugins: [ { pluginRef: h }, { pluginRef: quue-scorer }, { pluginRef: token-producer } ] } ]
requestHandler: { parsers: [ { pluginRef: vllmgrpc-parser }, { pluginRef: queue-scorer }, { pluginRef: openai } ] }
saturationDetector: { pluginRef: queue-scorer }
dataLayer: { discovery: { pluginRef: nobody } }
`,
      [
        `3:87  plugins[2].type  ${NOT_HERE("vllmgrpc-parser")} Only HTTP APIs are read: use openai-parser, anthropic-parser, vllmhttp-parser, or passthrough-parser.`,
        `4:64  schedulingProfiles[0].plugins[0].pluginRef  found "h", which is a profile handler; wanted a filter, scorer or picker.`,
        `4:82  schedulingProfiles[0].plugins[1].pluginRef  found "quue-scorer", which is not the name of a plugin; wanted the name of an entry in plugins, or a built-in type. Did you mean "queue-scorer"?`,
        `4:110  schedulingProfiles[0].plugins[2].pluginRef  found "token-producer", which is not the name of a plugin; wanted a filter, scorer or picker.`,
        `5:75  requestHandler.parsers[1].pluginRef  found "queue-scorer", which is of type "queue-scorer"; wanted a parser.`,
        `5:104  requestHandler.parsers[2].pluginRef  found "openai", which is not the name of a plugin; wanted a parser.`,
        `6:34  saturationDetector.pluginRef  found "queue-scorer", which is of type "queue-scorer"; wanted utilization-detector or concurrency-detector.`,
        `7:38  dataLayer.discovery.pluginRef  found "nobody", which is not the name of a plugin; wanted a file-discovery.`,
      ],
    ],
    [
      "names twice, handlers twice, pickers twice",
      `plugins:
- { type: queue-scorer, name: a }
- { type: prefix-cache-scorer, name: a }
- { type: single-profile-handler }
- { type: single-profile-handler }
- { type: max-score-picker }
- { type: random-picker }
schedulingProfiles: [ { name: default, plugins: [ { pluginRef: max-score-picker }, { pluginRef: random-picker } ] } ]
`,
      [
        `5:38  plugins[1].name  found the plugin name "a" a second time; wanted a name of its own for each entry.`,
        "7:3  plugins[3]  found a second profile handler; wanted one, or none.",
        `7:11  plugins[3].type  found the plugin name "single-profile-handler" a second time; wanted a name of its own for each entry.`,
        `10:84  schedulingProfiles[0].plugins[1]  found a second picker, "random-picker", beside "max-score-picker"; wanted one picker.`,
      ],
    ],
    [
      "keys and shapes; a broken section hides no mistake in another",
      `plugns: []
plugins: [ { parameters: { a: 1 } } ]
schedulingProfiles: [ { plugins: [ { pluginRef: x } ] } ]
featureGates: [ nope ]
`,
      [
        `3:1  plugns  found the unknown key "plugns"; wanted one of: apiVersion, kind, featureGates, plugins, schedulingProfiles, dataLayer, flowControl, requestHandler, saturationDetector, parser. Did you mean "plugins"?`,
        `4:12  plugins[0].type  found no "type"; wanted text.`,
        `5:23  schedulingProfiles[0].name  found no "name"; wanted text.`,
        `6:17  featureGates[0]  found the unknown feature gate "nope"; wanted dataLayer or prepareDataPlugins or flowControl.`,
      ],
    ],
  ];
  for (const [name, keys, problems] of cases) {
    it(name, async () => assert.deepEqual(await problemsOf(picker(keys)), problems));
  }
});

test("every refused type has a hint, and is not a type of ours", async () => {
  for (const [type, instead] of REFUSED_TYPES) {
    assert.equal(builtIns.has(type), false, type);
    // An EndpointPickerConfig knows what a section of a Router document says.
    const isSection = SECTION_TYPES.has(type);
    const router = `apiVersion: signalbox/v1\nkind: Router\nspec:\n  plugins: [ { type: ${type} } ]\n`;
    const [problem, ...others] = await problemsOf(isSection ? router : picker(`plugins: [ { type: ${type} } ]\n`));
    const place = isSection ? "4:22  spec.plugins[0].type" : "3:20  plugins[0].type";
    const found = isSection ? NOT_HERE(type).replace("has no counterpart", "is no plugin") : NOT_HERE(type);
    assert.equal(problem, `${place}  ${found} ${instead}`);
    assert.deepEqual(others, []);
  }
});

test("a refused type is reported in a Router document too", async () => {
  const text = "apiVersion: signalbox/v1\nkind: Router\nspec:\n  plugins: [ { type: latency-slo-admitter } ]\n";
  assert.deepEqual(await problemsOf(text), [
    `4:22  spec.plugins[0].type  ${NOT_HERE("latency-slo-admitter")} The default policy does as well without predicted latencies: leave it out, or load examples/latency-predictor/ with from.`,
  ]);
});

describe("documents together", () => {
  const ROUTER = "---\napiVersion: signalbox/v1\nkind: Router\nspec:\n";

  it("profiles in both", async () => {
    const problems = await problemsOf(`${picker("plugins: []\n")}${ROUTER}  profiles: [ { plugins: [] } ]\n`);
    assert.deepEqual(problems, [
      "8:3  spec.profiles  found profiles beside those of an EndpointPickerConfig; wanted schedulingProfiles there, or profiles here.",
    ]);
  });

  it("two of them", async () => {
    assert.deepEqual(await problemsOf(`${picker("")}---\n${picker("")}`), [
      "5:7  kind  found a second EndpointPickerConfig document (the first is in a.yaml); wanted one in all files together.",
    ]);
  });

  it("one name in both", async () => {
    const text = `${picker("plugins: [ { type: queue-scorer, name: q } ]\n")}${ROUTER}  plugins: [ { type: running, name: q } ]\n`;
    assert.deepEqual(await problemsOf(text), [
      '3:40  plugins[0].name  found the plugin name "q" a second time; wanted a name of its own for each entry.',
    ]);
  });

  it("no endpoints anywhere", async () => {
    assert.deepEqual(await problemsOf(picker(""), []), [
      "2:7  kind  found an EndpointPickerConfig without replicas; wanted their URLs beside it (signalbox start http://gpu1:8000 -f FILE), or a Router document with spec.pool.endpoints.",
    ]);
  });

  it("another version", async () => {
    const [problem] = await problemsOf(picker("", "llm-d.ai/v2"));
    assert.equal(
      problem,
      '1:13  apiVersion  found "llm-d.ai/v2"; wanted llm-d.ai/v1alpha1 or llm-d.ai/v1 or inference.networking.x-k8s.io/v1alpha1. Did you mean "llm-d.ai/v1"?',
    );
  });
});
