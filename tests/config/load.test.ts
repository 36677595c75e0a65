import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { defaultParsers, defaultTypes } from "../../config/plugins/instances.ts";
import { PROBE_DEFAULTS } from "../../core/settings/tables.ts";
import { DEFAULT_LIMITS, DEFAULT_SETTINGS } from "../../core/settings.ts";
import { configOf, loaded, POOL, registry, router } from "./support.ts";

describe("a config with nothing but a pool", () => {
  test("has every default", async () => {
    const { config, definitions } = await loaded(router(POOL));
    assert.deepEqual(config.listen, { host: "127.0.0.1", port: 8080, isPortShared: false });
    assert.deepEqual(config.admin, {
      host: "127.0.0.1",
      port: 9090,
      isPortShared: false,
      hosts: [],
      tokens: [],
      isReadOnly: false,
    });
    assert.deepEqual(config.pool, {
      name: "llama",
      endpoints: [{ name: "gpu1-8000", url: "http://gpu1:8000", labels: {} }],
      probes: PROBE_DEFAULTS,
    });
    assert.deepEqual(config.profile, {
      name: "default",
      plugins: [
        { pluginRef: "ready" },
        { pluginRef: "serves-model" },
        { pluginRef: "outstanding-work", weight: 1 },
        { pluginRef: "max-score" },
      ],
    });
    assert.deepEqual(config.rewrites, []);
    assert.deepEqual(config.settings, DEFAULT_SETTINGS);
    const names = config.plugins.map(({ name }) => name);
    const parsers = defaultParsers(registry);
    const others = [
      "static",
      ...defaultTypes(registry)
        .map(({ type }) => type)
        .filter((type) => !parsers.includes(type)),
      "ready",
      "serves-model",
      "outstanding-work",
      "max-score",
    ];
    assert.deepEqual(names, [...parsers, ...others]);
    assert.deepEqual([...definitions.keys()], names);
    assert.deepEqual(config.plugins.find(({ name }) => name === "static")?.parameters, { endpoints: config.pool.endpoints });
  });

  test("may be only addresses, without a document", async () => {
    const config = await configOf("", ["http://127.0.0.1:8001/v1/", "https://gpu.example"]);
    assert.deepEqual(
      config.pool.endpoints.map(({ name, url }) => [name, url]),
      [
        ["127.0.0.1-8001", "http://127.0.0.1:8001"],
        ["gpu.example-443", "https://gpu.example"],
      ],
    );
    assert.equal(config.pool.name, "default");
  });

  test("accepts further addresses", async () => {
    const config = await configOf(router(POOL), ["http://gpu9:1"]);
    assert.deepEqual(
      config.pool.endpoints.map(({ name }) => name),
      ["gpu1-8000", "gpu9-1"],
    );
  });
});

test("the admin port gets its host names", async () => {
  const config = await configOf(router(`${POOL}  admin: { hosts: [box.example.org] }\n`));
  assert.deepEqual(config.admin, {
    host: "127.0.0.1",
    port: 9090,
    isPortShared: false,
    hosts: ["box.example.org"],
    tokens: [],
    isReadOnly: false,
  });
});

test("every key of a Router is read", async () => {
  const config = await configOf(
    router(`
  listen: { host: "::", port: 0 }
  admin: false
  pool:
    name: llama
    endpoints:
      - { url: "http://[::1]:8000/base/" }
      - { url: https://gpu2, name: two, labels: { gpu: h100, zone: "1" } }
    probes:
      startup: { path: /up, initialDelaySeconds: 1, periodSeconds: 0.25, timeoutSeconds: 2, failureThreshold: 7 }
      readiness: { periodSeconds: 1 }
    adapters: { unlisted: any }
  keepAlive: { periodSeconds: 0.5, beforeHeadMs: 10s, paths: [/v1/messages] }
  forwardedFor: append
  limits: { headBytes: 4096, retries: 0 }
  responseHeaders: false
`),
  );
  assert.deepEqual(config.listen, { host: "::", port: 0, isPortShared: false });
  assert.equal(config.admin, undefined);
  assert.deepEqual(config.pool.endpoints, [
    { name: "1-8000-base", url: "http://[::1]:8000/base", labels: {} },
    { name: "two", url: "https://gpu2", labels: { gpu: "h100", zone: "1" } },
  ]);
  assert.deepEqual(config.pool.probes, {
    startup: { path: "/up", initialDelayMs: 1000, periodMs: 250, timeoutMs: 2000, failureThreshold: 7 },
    liveness: PROBE_DEFAULTS.liveness,
    readiness: { ...PROBE_DEFAULTS.readiness, periodMs: 1000 },
  });
  assert.deepEqual(config.settings, {
    ...DEFAULT_SETTINGS,
    limits: { ...DEFAULT_LIMITS, headBytes: 4096, retries: 0 },
    unlisted: "any",
    forwardedFor: "append",
    hasRoutingHeaders: false,
  });
  assert.deepEqual(config.features.get("keepAlive"), { periodMs: 500, beforeHeadMs: 10_000, paths: ["/v1/messages"] });
});

test("silent streams get something only where the config says so, every 15 seconds by default", async () => {
  assert.equal((await configOf(router(POOL))).features.get("keepAlive"), undefined);
  const { features } = await configOf(router(`${POOL}  keepAlive: { paths: [/v1/messages, /v1/responses] }\n`));
  assert.deepEqual(features.get("keepAlive"), { periodMs: 15_000, beforeHeadMs: 0, paths: ["/v1/messages", "/v1/responses"] });
});

test("JSON gives the same as YAML", async () => {
  const spec = { pool: { name: "llama", endpoints: [{ url: "http://gpu1:8000" }] }, plugins: [{ type: "queue", name: "q" }] };
  const json = JSON.stringify(
    { $schema: "./signalbox.schema.json", apiVersion: "signalbox/v1", kind: "Router", spec },
    null,
    "\t",
  );
  const yaml = router(`${POOL}  plugins: [{ type: queue, name: q }]\n`);
  const withoutPositions = async (text: string) => {
    const config = await configOf(text);
    return { ...config, plugins: config.plugins.map(({ position: _, ...entry }) => entry) };
  };
  assert.deepEqual(await withoutPositions(json), await withoutPositions(yaml));
});

describe("plugins", () => {
  test("get their defaults and keep their order", async () => {
    const { config, definitions } = await loaded(
      router(`${POOL}  plugins:\n    - { type: prefix-cache, name: cache, parameters: { blockBytes: 64 } }\n`),
    );
    const entry = config.plugins.find(({ name }) => name === "cache");
    assert.deepEqual(entry, {
      name: "cache",
      type: "prefix-cache",
      from: undefined,
      file: "",
      parameters: { blockBytes: 64, hash: "xxh64", tiers: [] },
      folder: ".",
      position: { file: "a.yaml", line: 6, column: 7 },
    });
    assert.equal(definitions.get("cache")?.type, "prefix-cache");
  });

  const cases: readonly (readonly [name: string, spec: string, listed: readonly string[], absent: readonly string[]])[] = [
    [
      "a listed parser takes the default's place",
      "plugins: [{ type: messages, name: claude }]",
      ["claude", "completions"],
      ["messages", "passthrough"],
    ],
    [
      "passthrough runs only where it is listed",
      "plugins: [{ type: passthrough, parameters: { paths: [/x] } }]",
      ["passthrough", "messages"],
      [],
    ],
    [
      "a listed source and observer take the defaults' places",
      "plugins: [{ type: model-list, name: a }, { type: access-log, name: b }]",
      ["a", "b"],
      ["model-list", "access-log"],
    ],
    [
      "another discovery works beside the listed endpoints",
      "plugins: [{ type: dns, parameters: { host: x } }]",
      ["dns", "static"],
      [],
    ],
    ["parameters may be left empty", "plugins: [{ type: queue, parameters: }]", ["queue"], []],
  ];
  for (const [name, spec, listed, absent] of cases) {
    test(name, async () => {
      const names = (await configOf(router(`${POOL}  ${spec}\n`))).plugins.map((entry) => entry.name);
      for (const one of listed) assert.ok(names.includes(one), `${one} is not in ${names}`);
      for (const one of absent) assert.ok(!names.includes(one), `${one} is in ${names}`);
      assert.equal(new Set(names).size, names.length);
    });
  }

  test("with a discovery, no endpoint need be listed", async () => {
    const config = await configOf(router("  plugins: [{ type: dns, parameters: { host: x } }]\n"));
    assert.deepEqual(config.pool.endpoints, []);
    assert.ok(!config.plugins.some(({ name }) => name === "static"));
  });
});

describe("the profile", () => {
  const cases: readonly (readonly [name: string, spec: string, refs: string])[] = [
    ["is the default one without plugins", "", "ready serves-model outstanding-work*1 max-score"],
    [
      "takes in listed plugins where none is written",
      "plugins: [{ type: prefix-cache, name: cache }]",
      "ready serves-model cache*1 max-score",
    ],
    [
      "keeps the default scorer beside a listed filter",
      "plugins: [{ type: ready }]",
      "ready serves-model outstanding-work*1 max-score",
    ],
    [
      "keeps the default scorer beside a listed picker",
      "plugins: [{ type: random, name: r }]",
      "ready serves-model r outstanding-work*1",
    ],
    [
      "is filled in",
      "profiles: [{ name: p, plugins: [{ pluginRef: queue, weight: 3 }] }]",
      "ready serves-model queue*3 max-score",
    ],
    [
      "has weight 1 where none is written",
      "profiles: [{ plugins: [{ pluginRef: queue }, { pluginRef: outstanding-work, weight: 0 }] }]",
      "ready serves-model queue*1 outstanding-work*0 max-score",
    ],
    [
      "keeps its own filters and picker, behind both default filters",
      "plugins: [{ type: label-selector, name: h100, parameters: { matchLabels: { gpu: h100 } } }]\n  profiles: [{ plugins: [{ pluginRef: h100 }, { pluginRef: random }] }]",
      "ready serves-model h100 random",
    ],
    [
      "has the default filters in front where it lists them elsewhere",
      "plugins: [{ type: label-selector, name: h100, parameters: { matchLabels: { gpu: h100 } } }, { type: ready, name: up }]\n  profiles: [{ plugins: [{ pluginRef: h100 }, { pluginRef: serves-model }, { pluginRef: up }] }]",
      "up serves-model h100 max-score",
    ],
    [
      "is left as it is where it is unguarded",
      "plugins: [{ type: label-selector, name: h100, parameters: { matchLabels: { gpu: h100 } } }]\n  profiles: [{ unguarded: true, plugins: [{ pluginRef: h100 }, { pluginRef: ready }, { pluginRef: queue }] }]",
      "h100 ready queue*1 max-score",
    ],
    ["has them where it says that it is not unguarded", "profiles: [{ unguarded: false }]", "ready serves-model max-score"],
    [
      "uses a default's type under its listed name",
      "plugins: [{ type: ready, name: up }, { type: max-score, name: best }]\n  profiles: [{ plugins: [{ pluginRef: queue }] }]",
      "up serves-model queue*1 best",
    ],
    ["may be empty", "profiles: [{ name: p }]", "ready serves-model max-score"],
  ];
  for (const [name, spec, refs] of cases) {
    test(name, async () => {
      const { profile, plugins } = await configOf(router(`${POOL}  ${spec}\n`));
      assert.equal(
        profile.plugins.map(({ pluginRef, weight }) => (weight === undefined ? pluginRef : `${pluginRef}*${weight}`)).join(" "),
        refs,
      );
      const names = new Set(plugins.map((entry) => entry.name));
      for (const { pluginRef } of profile.plugins) assert.ok(names.has(pluginRef), `${pluginRef} has no instance`);
    });
  }
});
