import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it, test } from "node:test";
import { loadConfig } from "../../../config/load.ts";
import { checkConfig } from "../../../config/show/check.ts";
import { builtIns } from "../../../plugins/registry.ts";
import { loaded, picker, shown } from "./support.ts";

/** Prepended to every profile, because the reference leaves these two checks to the cluster. */
const FRONT = ["ready", "serves-model"];
describe("beside a Router document", () => {
  const ROUTER = `---
apiVersion: signalbox/v1
kind: Router
spec:
  listen: { port: 1234 }
  pool: { name: llama, endpoints: [ { url: "http://gpu7:8000", labels: { gpu: h100 } } ] }
`;

  it("pool and address come from the Router, the profile from this document; it can name plugins of both", async () => {
    const keys = `plugins: [ { type: queue-scorer } ]
schedulingProfiles: [ { name: p, plugins: [ { pluginRef: queue-scorer, weight: 2 }, { pluginRef: mine } ] } ]
`;
    const { config } = await loaded(`${picker(keys)}${ROUTER}  plugins: [ { type: outstanding-work, name: mine } ]\n`, []);
    assert.deepEqual([config.listen.port, config.pool.name, config.pool.endpoints[0]?.name], [1234, "llama", "gpu7-8000"]);
    assert.deepEqual(shown(config.profile.plugins), [...FRONT, "queue-scorer 2", "mine 1", "max-score"]);
  });

  it("a default plugin listed in the Router under another name replaces the default", async () => {
    const { config } = await loaded(`${picker("")}${ROUTER}  plugins: [ { type: serves-model, name: served } ]\n`, []);
    assert.deepEqual(shown(config.profile.plugins).slice(0, 2), ["ready", "served"]);
  });

  it("rewrites work as usual", async () => {
    const rewrite = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food }
spec: { poolRef: { name: llama }, rules: [ { matches: [ { model: { value: food } } ], targets: [ { modelRewrite: v1 } ] } ] }
`;
    const { config } = await loaded(`${picker("")}${ROUTER}${rewrite}`, []);
    assert.equal(config.rewrites.length, 1);
  });
});

describe("the reference's names in a Router document", () => {
  const router = (spec: string) => `apiVersion: signalbox/v1\nkind: Router\nspec:\n${spec}`;

  it("work as types, with the reference's parameters", async () => {
    const { config } = await loaded(
      router(`  plugins: [ { type: queue-scorer }, { type: no-hit-lru-scorer, name: lru, parameters: { lruSize: 9 } } ]
  profiles: [ { plugins: [ { pluginRef: queue-scorer, weight: 2 }, { pluginRef: lru }, { pluginRef: token-load-scorer } ] } ]
`),
    );
    assert.deepEqual(shown(config.profile.plugins), [...FRONT, "queue-scorer 2", "lru 1", "token-load-scorer 1", "max-score"]);
    const types = config.plugins
      .filter(({ name }) => ["queue-scorer", "lru", "token-load-scorer"].includes(name))
      .map(({ type }) => type);
    assert.deepEqual(types, ["queue", "no-hit-lru", "token-load"]);
  });

  it("replace a default like our own names do", async () => {
    const { config } = await loaded(
      router("  plugins: [ { type: metrics-data-source, name: m, parameters: { periodMs: 200 } } ]\n"),
    );
    assert.deepEqual(
      config.plugins.filter(({ type }) => type === "metrics").map(({ name }) => name),
      ["m"],
    );
  });
});

describe("files", () => {
  let folder = "";
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "signalbox-picker-"));
  });
  after(() => rmSync(folder, { recursive: true }));

  const DISCOVERY = `plugins: [ { type: file-discovery, parameters: { path: endpoints.yaml } } ]
dataLayer: { discovery: { pluginRef: file-discovery } }
`;

  it("file-discovery lists the endpoints, and no Router document is needed", async () => {
    write(
      "endpoints.yaml",
      `endpoints:
- { name: vllm-0, address: "10.0.0.1", port: "8000" }
- { name: vllm-1, namespace: other, address: "::1", port: 8001, labels: { gpu: h100 } }
`,
    );
    const { config, problems } = await loadConfig([write("config.yaml", picker(DISCOVERY))], builtIns);
    assert.equal(problems, undefined);
    assert.deepEqual(config?.pool.endpoints, [
      { name: "vllm-0", url: "http://10.0.0.1:8000", labels: {} },
      { name: "other.vllm-1", url: "http://[::1]:8001", labels: { gpu: "h100" } },
    ]);
  });

  it("problems in that file are reported with its name", async () => {
    const list = write(
      "endpoints.yaml",
      'endpoints:\n- { name: a, address: "10.0.0.1", port: "99999" }\n- { name: b, address: "x y", port: 1 }\n',
    );
    const { problems = [] } = await loadConfig([write("config.yaml", picker(DISCOVERY))], builtIns);
    assert.deepEqual(
      problems.map(({ file, line, path }) => [file, line, path]),
      [
        [list, 2, "endpoints[0].port"],
        [list, 3, "endpoints[1].address"],
      ],
    );
    write(
      "endpoints.yaml",
      'endpoints:\n- { name: a, address: "10.0.0.1", port: "8000" }\n- { name: b, address: "x y", port: 1 }\n',
    );
    const second = await loadConfig([write("config.yaml", picker(DISCOVERY))], builtIns);
    assert.deepEqual(
      second.problems?.map(({ file, line, path }) => [file, line, path]),
      [[list, 3, "endpoints[1].address"]],
    );
  });

  it("an empty list is refused", async () => {
    write("endpoints.yaml", "endpoints: []\n");
    const { problems = [] } = await loadConfig([write("config.yaml", picker(DISCOVERY))], builtIns);
    assert.deepEqual(
      problems.map(({ path, found }) => [path, found]),
      [["plugins[0].parameters.path", "a file without endpoints"]],
    );
  });

  it("check shows what runs and what is not needed", async () => {
    const file = write(
      "shown.yaml",
      picker(`plugins: [ { type: queue-scorer }, { type: single-profile-handler }, { type: openai-parser } ]
schedulingProfiles: [ { name: default, plugins: [ { pluginRef: queue-scorer, weight: 2 } ] } ]
---
apiVersion: signalbox/v1
kind: Router
spec: { pool: { endpoints: [ { url: "http://gpu1:8000" } ] } }
`),
    );
    const { text, isValid } = await checkConfig({ paths: [file], urls: [], isJson: false, isStrict: false }, builtIns);
    assert.ok(isValid);
    assert.match(text, /scorer {2}queue-scorer \(queue\) {2}weight 2\n {10}picker {2}max-score\n/);
    assert.match(
      text,
      /^notes {5}on entries and parameters that are not taken as they are\n {10}single-profile-handler {2}taken over: each request .*\n {10}openai-parser {11}taken over: by the router's own completions, /m,
    );
  });
});

test("a list from a cluster may contain one", async () => {
  const text = `apiVersion: v1\nkind: List\nitems:\n- apiVersion: llm-d.ai/v1\n  kind: EndpointPickerConfig\n  plugins: []\n`;
  assert.equal((await loaded(text)).config.profile.plugins.length, 6);
});

describe("values that agree with what is so, or change nothing, are accepted with a note", () => {
  /** As the reference's chart renders it by default. */
  const CHART = (engine: string, source: string) => `plugins:
- type: queue-scorer
- type: kv-cache-utilization-scorer
- type: prefix-cache-scorer
- type: metrics-data-source
  parameters: ${source}
- type: core-metrics-extractor
  parameters: ${engine}
- { type: openai-parser, parameters: { propagatePriority: false } }
schedulingProfiles:
- name: default
  plugins: [ { pluginRef: queue-scorer, weight: 2 }, { pluginRef: kv-cache-utilization-scorer, weight: 2 }, { pluginRef: prefix-cache-scorer, weight: 3 } ]
dataLayer: { crossReplicaSyncInterval: 1s, peerDiscovery: null }
`;
  const cases: readonly (readonly [name: string, source: string, url: string, notes: string])[] = [
    [
      "the chart's defaults",
      '{ scheme: "http", path: "/metrics", insecureSkipVerify: true }',
      "http://gpu1:8000",
      "insecureSkipVerify, scheme",
    ],
    ["at https", '{ scheme: "https", insecureSkipVerify: false }', "https://gpu1:8000", "insecureSkipVerify, scheme"],
    [
      "at https with TLS of its own",
      '{ scheme: "https", insecureSkipVerify: true, families: [ a ] }',
      "https://gpu1:8000",
      "families",
    ],
    ["a port of its own", '{ scheme: "http", port: 8008, insecureSkipVerify: true }', "https://gpu1:8000", "insecureSkipVerify"],
    ["no port of its own", "{ port: 0, caCertPath: /ca.pem, families: [ a ] }", "http://gpu1:8000", "families, caCertPath, port"],
  ];
  for (const [name, source, url, keys] of cases)
    it(name, async () => {
      const { notes, config } = await loaded(picker(CHART("{ defaultEngine: sglang, engineConfigs: [] }", source)), [url]);
      const noted = notes.map(({ name: entry, effect, why }) => `${entry} ${effect}: ${why}`);
      for (const note of [
        `metrics-data-source no meaning here: ${keys}`,
        "core-metrics-extractor no meaning here: defaultEngine, engineConfigs",
        "openai-parser no meaning here: propagatePriority",
      ])
        assert.ok(noted.includes(note), `${note} is not in\n${noted.join("\n")}`);
      assert.equal(config.plugins.filter(({ type }) => type === "metrics").length, 1);
    });
});
