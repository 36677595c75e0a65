import assert from "node:assert/strict";
import { after, test } from "node:test";
import { configText } from "../../../apps/cli/show/config-text.ts";
import { loadTexts } from "../../../config/load.ts";
import { formatProblems } from "../../../config/read/problems.ts";
import { effectiveConfig } from "../../../config/show/effective.ts";
import { withoutDefaults } from "../../../config/show/without-defaults.ts";
import { builtIns } from "../../../plugins/registry.ts";

const TEXT = `apiVersion: signalbox/v1
kind: Router
spec:
  listen:
    port: 8123
    cors: { origins: [https://chat.example], maxAgeS: 60 }
  pool:
    name: llama
    endpoints: [{ url: http://gpu1:8000, labels: { gpu: h100 }, auth: { bearer: "env:SB_EFFECTIVE_KEY" } }]
    auth: { bearer: "env:SB_EFFECTIVE_KEY" }
    forwardCredentials: false
    adapters: { unlisted: any }
    probes: { startup: { periodSeconds: 2m } }
  plugins:
    - { type: prefix-cache, name: cache }
  ejection: { baseSeconds: 5 }
  keepAlive: { paths: [/v1/messages] }
  limits: { idleTimeoutMs: 30s }
`;

process.env["SB_EFFECTIVE_KEY"] = "sk-1";
after(() => delete process.env["SB_EFFECTIVE_KEY"]);

async function load(text: string, urls: readonly string[] = []) {
  const loaded = await loadTexts([{ file: "a.yaml", text }], builtIns, urls);
  if (loaded.problems !== undefined) assert.fail(formatProblems(loaded.problems));
  return loaded;
}

test("every value has its origin", async () => {
  const { origins } = effectiveConfig(await load(TEXT, ["http://gpu2:8000"]), { port: 8124 });
  const expected: Readonly<Record<string, string>> = {
    "spec.listen.host": "default",
    "spec.listen.port": "the command line",
    "spec.admin.port": "default",
    "spec.pool.name": "a.yaml:8:11",
    "spec.pool.endpoints[0].url": "a.yaml:9:24",
    "spec.pool.endpoints[0].labels.gpu": "a.yaml:9:57",
    "spec.pool.endpoints[1].url": "outside of the Router document",
    "spec.pool.probes.startup.periodSeconds": "a.yaml:13:41",
    "spec.pool.probes.startup.path": "default",
    "spec.ejection.baseSeconds": "a.yaml:16:28",
    "spec.ejection.maxShare": "default",
    "spec.keepAlive.paths": "a.yaml:17:23",
    "spec.limits.idleTimeoutMs": "a.yaml:18:28",
    "spec.limits.headBytes": "default",
    "spec.responseHeaders": "default",
    "spec.pool.auth.bearer": "a.yaml:10:21",
    "spec.pool.endpoints[0].auth.bearer": "a.yaml:9:81",
    "spec.pool.adapters.unlisted": "a.yaml:12:27",
    "spec.listen.reusePort": "default",
  };
  assert.deepEqual(Object.fromEntries(Object.keys(expected).map((path) => [path, origins[path]])), expected);
  const cache = Object.entries(origins).filter(([, origin]) => origin.startsWith("a.yaml:15:"));
  assert.ok(cache.some(([path]) => /^spec\.plugins\[\d+\]\.name$/.test(path)));
});

/** Settings with keys by where they come from. */
function comparable({ config }: Awaited<ReturnType<typeof load>>) {
  const { credentials } = config.settings;
  const ofEndpoint = [...(credentials?.ofEndpoint ?? [])].map(([name, { from }]) => [name, from]);
  return { ...config.settings, credentials: { ...credentials, ofPool: credentials?.ofPool?.from, ofEndpoint } };
}

test("the printed config is a config with the same meaning, with its defaults and without", async () => {
  const first = await load(TEXT);
  const shown = effectiveConfig(first, {});
  for (const isEffective of [true, false]) {
    const again = await load(configText(shown, isEffective));
    assert.deepEqual(comparable(again), comparable(first));
    assert.deepEqual(again.config.pool, first.config.pool);
    assert.deepEqual(again.config.profile, first.config.profile);
    assert.deepEqual(effectiveConfig(again, {}).router.spec["plugins"], shown.router.spec["plugins"]);
  }
});

test("without defaults, the plugins of profiles and of a shadow are printed whole", async () => {
  const first = await load(`${TEXT}  profiles: [{ plugins: [{ pluginRef: cache, weight: 3 }, { pluginRef: queue }] }]
  shadow: { plugins: [{ pluginRef: queue, weight: 2 }] }
`);
  const again = await load(configText(effectiveConfig(first, {}), false));
  assert.deepEqual(again.config.profile, first.config.profile);
  assert.deepEqual(again.config.others, first.config.others);
});

test("a shadow and mirrors are printed as they are written", async () => {
  const beside = `${TEXT}  profiles: [{ plugins: [{ pluginRef: cache }] }]
  shadow: { name: candidate, plugins: [{ pluginRef: cache, weight: 2 }, { pluginRef: queue }], percent: 25 }
  mirrors: [{ rule: food, target: v2, percent: 5, timeoutSeconds: 2m }]
---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food }
spec: { poolRef: { name: llama }, rules: [{ targets: [{ modelRewrite: v1, weight: 1 }, { modelRewrite: v2, weight: 0 }] }] }
`;
  const first = await load(beside);
  const shown = effectiveConfig(first, {});
  const refs = ["ready", "serves-model", "cache", "queue", "max-score"];
  assert.deepEqual(
    (shown.router.spec["shadow"] as typeof first.config.profile).plugins.map(({ pluginRef }) => pluginRef),
    refs,
  );
  assert.deepEqual(shown.router.spec["mirrors"], [
    { rule: "food/0", target: "v2", percent: 5, maxInFlight: 16, timeoutSeconds: 120 },
  ]);
  const [, rules = ""] = beside.split("---\n");
  const again = await load(`${configText(shown, true)}\n---\n${rules}`);
  assert.deepEqual(again.config.features, first.config.features);
});

test("without defaults only what is written is left", async () => {
  const { router, origins } = effectiveConfig(await load(TEXT), {});
  const { spec } = withoutDefaults(router, "", origins) as { spec: Record<string, unknown> };
  assert.deepEqual(spec["listen"], { port: 8123, cors: { origins: ["https://chat.example"], maxAgeS: 60 } });
  assert.deepEqual(spec["limits"], { idleTimeoutMs: 30_000 });
  assert.deepEqual(spec["ejection"], { baseSeconds: 5 });
  assert.equal(spec["retries"], undefined);
});

test("texts under keys that sound like secrets are hidden", async () => {
  const loaded = await load(TEXT);
  const plugins = loaded.config.plugins.map((entry) => ({
    ...entry,
    parameters: { apiKey: "hunter2", deep: [{ password: "hunter2" }] },
  }));
  const text = JSON.stringify(effectiveConfig({ ...loaded, config: { ...loaded.config, plugins } }, {}));
  assert.doesNotMatch(text, /hunter2/);
  assert.match(text, /"apiKey":"\(hidden\)","deep":\[\{"password":"\(hidden\)"\}\]/);
});

test("Pool documents are printed as configs with the same meaning, with what they have from the Router document", async () => {
  const text = `apiVersion: signalbox/v1
kind: Router
spec:
  pool: { endpoints: [{ url: http://gpu1:8000 }], probes: { readiness: { periodSeconds: 7 } } }
  plugins: [{ type: queue, name: few }, { type: access-log }]
  profiles: [{ plugins: [{ pluginRef: few }] }]
  fallback: [canary]
  retries: { backoffMs: 3 }
---
apiVersion: signalbox/v1
kind: Pool
metadata: { name: canary }
spec:
  models: [a, "b*"]
  headers: { X-Who: [me] }
  pool: { endpoints: [{ url: http://gpu2:8000, auth: { bearer: "env:SB_EFFECTIVE_KEY" } }], adapters: { byClients: false } }
  admission: { concurrency: 4 }
  fallback: [{ pool: default, modelRewrite: a }]
`;
  const first = await load(text);
  const shown = effectiveConfig(first, {});
  assert.doesNotMatch(JSON.stringify(shown), /sk-1/);
  const [pool] = shown.pools;
  const lineOf = (path: string) => pool!.origins[path]!.split(":", 2).join(":");
  const lines = {
    "spec.retries.backoffMs": "a.yaml:8",
    "spec.pool.probes.readiness.periodSeconds": "a.yaml:4",
    "spec.models": "a.yaml:14",
    "spec.admission.concurrency": "a.yaml:17",
    "spec.pool.adapters.byClients": "a.yaml:16",
    "spec.pool.adapters.unlisted": "default",
  };
  assert.deepEqual(Object.fromEntries(Object.keys(lines).map((path) => [path, lineOf(path)])), lines);
  for (const isEffective of [true, false]) {
    const again = await load(configText(shown, isEffective));
    const [before, after] = [first.pools[0]!, again.pools[0]!];
    assert.deepEqual({ ...after, plan: undefined }, { ...before, plan: undefined });
    assert.deepEqual(after.plan.config.pool, before.plan.config.pool);
    assert.deepEqual(after.plan.config.profile, before.plan.config.profile);
    assert.deepEqual(after.plan.config.features, before.plan.config.features);
    assert.deepEqual(effectiveConfig(again, {}).pools[0]!.document, pool!.document);
  }
});
