import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type CheckOptions, checkConfig } from "../../../config/show/check.ts";
import { POOL, registry, router } from "../support.ts";

let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "signalbox-check-"));
});
after(() => rmSync(folder, { recursive: true }));

async function check(text: string, options: Partial<CheckOptions> = {}) {
  const file = join(folder, "signalbox.yaml");
  writeFileSync(file, text);
  const { text: output, isValid } = await checkConfig(
    { paths: [file], urls: [], isJson: false, isStrict: false, ...options },
    registry,
  );
  return { text: output.replaceAll(`${folder}/`, ""), isValid };
}

test("checkConfig summarizes a valid config", async () => {
  const { text, isValid } = await check(`${router(`  listen: { host: "::", port: 80 }
  admin: false
  pool: { name: llama, endpoints: [{ url: http://gpu1:8000, labels: { gpu: h100 } }, { url: http://gpu2:8000 }] }
  plugins: [{ type: prefix-cache, name: cache }, { type: random, name: dice }]
  profiles: [{ plugins: [{ pluginRef: cache, weight: 3 }, { pluginRef: queue }] }]
`)}---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food }
spec:
  poolRef: { name: llama }
  rules:
    - matches: [{ model: { value: food } }]
      targets: [{ modelRewrite: v1, weight: 2 }, { modelRewrite: v2, weight: 1 }]
      sticky: { header: X-User }
      onUnavailable: redistribute
    - targets: [{ modelRewrite: base }]
`);
  assert.equal(
    text,
    `The config is valid.
listen    [::]:80, admin off
pool      llama, 2 endpoints
          gpu1-8000  http://gpu1:8000  gpu=h100
          gpu2-8000  http://gpu2:8000
profile   default
          filter  ready
          filter  serves-model
          scorer  cache (prefix-cache)  weight 3
          scorer  queue  weight 1
          picker  max-score
rewrites  2 rules: what clients write -> what replicas get
          food -> v1 66.7%, v2 33.3%, sticky by x-user, redistributed when unavailable  (food/0)
          every model -> base  (food/1)
warnings  1
          signalbox.yaml:7:50  spec.plugins[1]  found the picker "dice", which the profile does not name; wanted { pluginRef: dice } in the profile, or no entry.`,
  );
  assert.equal(isValid, true);
});

test("checkConfig lists what runs beside the profile: sections of features and plugins of every other kind", async () => {
  const { text, isValid } = await check(
    `${router(`${POOL}  kvEvents: {}
  keepAlive: { paths: [/v1/chat-completions] }
  ejection: false
  plugins:
  - { from: ${JSON.stringify(join(import.meta.dirname ?? ".", "../../../examples/plugins/feature-note/plugin.ts"))} }
  - { type: access-log, name: log }
  - { type: failure-rate }
`)}`,
  );
  assert.ok(isValid, text);
  const [, shown = ""] = text.split("rewrites  0 rules\n");
  assert.deepEqual(shown.replace(/\(.*feature-note/, "(feature-note").split("\n"), [
    "features  keepAlive, kvEvents",
    "plugins   that run beside the profile",
    "          feature       experiment-note (feature-note/plugin.ts)",
    "          observer      log (access-log)",
    "          detector      failure-rate",
  ]);
});

test("checkConfig shortens long lists", async () => {
  const endpoints = Array.from({ length: 20 }, (_, index) => `{ url: "http://gpu${index}:8000" }`).join(", ");
  const { text } = await check(router(`  pool: { endpoints: [${endpoints}] }\n`));
  assert.match(text, /pool {6}default, 20 endpoints\n(.*\n){12} {10}… and 8 more\n/);
});

test("checkConfig lists every problem", async () => {
  const { text, isValid } = await check(router(`${POOL}  lisen: {}\n  limits: { retries: x }\n`));
  assert.deepEqual(text.split("\n"), [
    `signalbox.yaml:5:3  spec.lisen  found the unknown key "lisen"; wanted one of: listen, admin, pool, plugins, profiles, conversations, auth, stored, scale, keepAlive, sessions, admission, quarantine, shadow, mirrors, disaggregation, ejection, kubernetes, guards, kvEvents, shared, fallback, websockets, retries, forwardedFor, limits, responseHeaders. Did you mean "listen"?`,
    "    5 |   lisen: {}",
    "      |   ^",
    `signalbox.yaml:6:22  spec.limits.retries  found "x"; wanted a whole number from 0 to 100.`,
    "    6 |   limits: { retries: x }",
    "      |                      ^",
    "2 problems",
  ]);
  assert.equal(isValid, false);
});

test("checkConfig names what an unguarded profile leaves out", async () => {
  const unguarded = (refs: string) => router(`${POOL}  profiles: [{ unguarded: true, plugins: [${refs}] }]\n`);
  const both = await check(unguarded("{ pluginRef: queue }"));
  assert.match(
    both.text,
    /^profile {3}default, unguarded: without ready and serves-model, so replicas that are not ready get requests, and unknown models reach replicas$/m,
  );
  const one = await check(unguarded("{ pluginRef: ready }"));
  assert.match(one.text, /^profile {3}default, unguarded: without serves-model, so unknown models reach replicas$/m);
  const none = await check(unguarded("{ pluginRef: ready }, { pluginRef: serves-model }"));
  assert.match(none.text, /^profile {3}default$/m);
  assert.ok(both.isValid && one.isValid && none.isValid);
  const json = await check(unguarded("{ pluginRef: ready }"), { isJson: true, isStrict: true });
  assert.deepEqual(JSON.parse(json.text), { valid: true, unguarded: ["serves-model"], notes: [], problems: [], warnings: [] });
});

describe("warnings", () => {
  const rules = (...models: readonly string[]) => `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food }
spec:
  poolRef: { name: llama }
  rules:
${models.map((model) => `    - { matches: [${model}], targets: [{ modelRewrite: v1 }] }\n`).join("")}`;
  const exact = (model: string) => `{ model: { value: ${model} } }`;

  const cases: readonly (readonly [name: string, rules: string, lines: readonly string[]])[] = [
    ["none for rules that match different models", rules(exact("a"), exact("b"), ""), []],
    [
      "a model that two rules match",
      rules(exact("a"), `${exact("b")}, ${exact("a")}`),
      [
        'signalbox.yaml:13:62  spec.rules[1].matches[1].model.value  found a match for the model "a", which the rule food/0 (signalbox.yaml:12:37) takes first; wanted one rule for each model: remove this match or that one.',
      ],
    ],
    [
      "two rules for every other model",
      rules("", ""),
      [
        "signalbox.yaml:13:7  spec.rules[1]  found a match for every other model, which the rule food/0 (signalbox.yaml:12:7) takes first; wanted one rule for each model: remove this match or that one.",
      ],
    ],
  ];
  for (const [name, text, lines] of cases) {
    test(`${name}`, async () => {
      const config = router(POOL) + text;
      const loose = await check(config);
      assert.ok(loose.isValid);
      assert.deepEqual(
        loose.text.split("\n").filter((line) => line.startsWith("          signalbox.yaml")),
        lines.map((line) => `          ${line}`),
      );
      const strict = await check(config, { isStrict: true });
      assert.equal(strict.isValid, lines.length === 0);
      const json = await check(config, { isStrict: true, isJson: true });
      const document = JSON.parse(json.text) as {
        valid: boolean;
        problems: unknown[];
        warnings: { line: number; path: string }[];
      };
      assert.deepEqual([document.valid, document.problems, document.warnings.length], [lines.length === 0, [], lines.length]);
    });
  }

  test("an EndpointPickerConfig alone is checked whole, and wants replicas", async () => {
    const alone = (keys: string) => `apiVersion: llm-d.ai/v1\nkind: EndpointPickerConfig\n${keys}`;
    const good = await check(alone("plugins: [{ type: queue }]\n"));
    assert.ok(good.isValid);
    assert.match(good.text, /^pool {6}default, 0 endpoints$/m);
    assert.match(
      good.text,
      /signalbox\.yaml:2:7 {2}kind {2}found an EndpointPickerConfig without replicas; wanted their URLs beside it \(signalbox start http:\/\/gpu1:8000 -f FILE\)/,
    );
    assert.doesNotMatch(
      (await check(alone("plugins: [{ type: queue }]\n"), { urls: ["http://gpu1:8000"] })).text,
      /without replicas/,
    );
    const bad = await check(
      alone("plugins: [{ type: queeu }]\nschedulingProfiles: [{ name: p, plugins: [{ pluginRef: none }] }]\n"),
    );
    assert.match(bad.text, /the unknown plugin type "queeu"/);
    assert.match(bad.text, /"none", which is not the name of a plugin/);
  });
});

test("checkConfig --json lists problems with their places", async () => {
  const { text, isValid } = await check(router(`${POOL}  lisen: {}\n`), { isJson: true });
  assert.equal(isValid, false);
  assert.deepEqual(JSON.parse(text), {
    valid: false,
    unguarded: [],
    notes: [],
    problems: [
      {
        file: "signalbox.yaml",
        line: 5,
        column: 3,
        path: "spec.lisen",
        found: 'the unknown key "lisen"',
        wanted:
          "one of: listen, admin, pool, plugins, profiles, conversations, auth, stored, scale, keepAlive, sessions, admission, quarantine, shadow, mirrors, disaggregation, ejection, kubernetes, guards, kvEvents, shared, fallback, websockets, retries, forwardedFor, limits, responseHeaders",
        hint: 'Did you mean "listen"?',
      },
    ],
    warnings: [],
  });
});

test("checkConfig summarizes guards", async () => {
  const { text } = await check(`${router(`${POOL}  guards: [{ rule: food, target: v2, worseBy: { errorRate: 2% } }]\n`)}---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food }
spec: { poolRef: { name: llama }, rules: [{ targets: [{ modelRewrite: v1, weight: 1 }, { modelRewrite: v2, weight: 1 }] }] }
`);
  assert.match(
    text,
    /^guards {4}1\n {10}food\/0 stops v2 when it is worse than v1 \(error rate by 2 points\) at confidence 95%/m,
  );
});
