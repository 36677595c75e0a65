import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type LoadedConfig, loadTexts } from "../../../config/load.ts";
import { formatProblem } from "../../../config/read/problems.ts";
import { changesBetween, fixedChanges } from "../../../config/show/changes.ts";
import { builtIns } from "../../../plugins/registry.ts";

process.env["SB_CHANGES_TOKEN"] = "open-sesame";

const ENDPOINTS = '[ { url: "http://a:1", name: a }, { url: "http://b:1", name: b } ]';
const BASE = `  pool: { endpoints: ${ENDPOINTS} }\n`;

async function load(spec: string, documents = ""): Promise<LoadedConfig> {
  const text = `apiVersion: signalbox/v1\nkind: Router\nspec:\n${spec}${documents}`;
  const loaded = await loadTexts([{ file: "a.yaml", text }], builtIns);
  if (loaded.problems !== undefined) throw new Error(loaded.problems.map(formatProblem).join("\n"));
  return loaded;
}

const rewrite = (v1: number, v2: number) => `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food }
spec: { poolRef: { name: default }, rules: [ { targets: [ { modelRewrite: v1, weight: ${v1} }, { modelRewrite: v2, weight: ${v2} } ] } ] }
`;

describe("what the next config changes, in words", () => {
  const cases: readonly (readonly [name: string, before: string, after: string, words: readonly string[]])[] = [
    ["nothing but lines", BASE, `# one\n\n${BASE}`, []],
    ["an endpoint more", BASE, BASE.replace("} ]", '}, { url: "http://c:1", name: c } ]'), ["endpoint c added"]],
    ["an endpoint less", BASE, BASE.replace(', { url: "http://b:1", name: b }', ""), ["endpoint b removed"]],
    ["an endpoint elsewhere", BASE, BASE.replace("b:1", "b:2"), ["endpoint b changed"]],
    ["a label", BASE, BASE.replace("name: b", "name: b, labels: { x: y }"), ["endpoint b changed"]],
    [
      "the order",
      BASE,
      `  pool: { endpoints: [ { url: "http://b:1", name: b }, { url: "http://a:1", name: a } ] }\n`,
      ["endpoints in another order"],
    ],
    ["the pool's name", BASE, BASE.replace("{ endp", "{ name: llama, endp"), ['pool.name: "default" -> "llama"']],
    ["a limit", BASE, `${BASE}  limits: { retries: 5 }\n`, ["limits.retries: 2 -> 5"]],
    ["a switch", BASE, `${BASE}  responseHeaders: false\n`, ["settings.hasRoutingHeaders: true -> false"]],
    [
      "a shadow, then another weight in it",
      `${BASE}  shadow: { name: candidate, plugins: [ { pluginRef: queue } ] }\n`,
      `${BASE}  shadow: { name: candidate, plugins: [ { pluginRef: queue, weight: 2 } ] }\n`,
      ["shadow candidate changed"],
    ],
    ["a new shadow", BASE, `${BASE}  shadow: { plugins: [ { pluginRef: queue } ] }\n`, ["shadow shadow added"]],
    ["no shadow any more", `${BASE}  shadow: { plugins: [ { pluginRef: queue } ] }\n`, BASE, ["shadow removed"]],
    [
      "a plugin's parameters",
      `${BASE}  plugins: [ { type: decisions, parameters: { size: 5 } } ]\n`,
      `${BASE}  plugins: [ { type: decisions, parameters: { size: 6 } } ]\n`,
      ["plugin decisions changed"],
    ],
    [
      "who may change",
      BASE,
      `${BASE}  admin: { token: "env:SB_CHANGES_TOKEN", readOnly: true }\n`,
      ["admin.tokens changed", "admin.readOnly: true"],
    ],
    [
      "no key, though it is read again",
      BASE.replace("{ endp", '{ auth: { bearer: "env:SB_CHANGES_TOKEN" }, endp'),
      BASE.replace("{ endp", '{ auth: { bearer: "env:SB_CHANGES_TOKEN" }, endp'),
      [],
    ],
    [
      "a key, without showing it",
      BASE,
      BASE.replace("{ endp", '{ auth: { bearer: "env:SB_CHANGES_TOKEN" }, endp'),
      ["the replicas' keys changed"],
    ],
    ["weights", BASE + rewrite(90, 10), BASE + rewrite(50, 50), ["rewrite food/0 v1 90, v2 10 -> v1 50, v2 50"]],
  ];
  for (const [name, before, after, words] of cases) {
    test(name, async () => assert.deepEqual(changesBetween(await load(before), await load(after)), words));
  }

  test("probes, with their numbers", async () => {
    const probed = BASE.replace("{ endp", "{ probes: { liveness: { periodSeconds: 1 } }, endp");
    const [line = "", ...others] = changesBetween(await load(BASE), await load(probed));
    assert.match(line, /^pool\.probes: .*"periodMs":10000.* -> .*"periodMs":1000/);
    assert.deepEqual(others, []);
  });

  test("a profile", async () => {
    const profile = "  profiles: [ { name: default, plugins: [ { pluginRef: queue } ] } ]\n";
    const words = changesBetween(await load(BASE), await load(BASE + profile));
    assert.ok(words.includes("profile default changed"), words.join("\n"));
  });

  test("a plugin's code", async () => {
    const loaded = await load(BASE);
    const definitions = new Map(loaded.definitions);
    definitions.set("max-score", { ...definitions.get("max-score")! });
    assert.deepEqual(changesBetween(loaded, { ...loaded, definitions }), ["plugin max-score changed"]);
  });
});

describe("what can't change while the router runs", () => {
  const cases: readonly (readonly [name: string, before: string, after: string, keys: readonly string[]])[] = [
    ["nothing else", "", "  limits: { retries: 5 }\n", []],
    ["a default written down", "", "  listen: { host: 127.0.0.1, port: 8080 }\n", []],
    ["both halves of an address", "", "  listen: { host: 0.0.0.0, port: 1 }\n", ["spec.listen.host", "spec.listen.port"]],
    ["the admin port's names", "", "  admin: { hosts: [ box.local ] }\n", ["spec.admin.hosts"]],
    ["the admin port's address", "", "  admin: { host: 0.0.0.0, port: 1 }\n", ["spec.admin.host", "spec.admin.port"]],
    ["whether there is one: off", "", "  admin: false\n", ["spec.admin"]],
    ["whether there is one: on", "  admin: false\n", "  admin: { port: 1 }\n", ["spec.admin"]],
    [
      "where the resources of a cluster are",
      "  kubernetes: { resources: true, router: a }",
      "  kubernetes: { resources: true, router: b, namespace: llm }",
      ["spec.kubernetes.router", "spec.kubernetes.namespace"],
    ],
    [
      "whether they are followed",
      "  kubernetes: { selector: { app: a } }",
      "  kubernetes: { selector: { app: b }, resources: true }",
      ["spec.kubernetes.resources"],
    ],
  ];
  for (const [name, before, after, keys] of cases) {
    test(name, async () => {
      const problems = fixedChanges(await load(BASE + before), await load(BASE + after));
      assert.deepEqual(
        problems.map(({ path }) => path),
        keys,
      );
      for (const problem of problems) assert.match(formatProblem(problem), /^a\.yaml:5:\d+ .*restart the router/);
    });
  }

  test("whether the port is shared", async () => {
    const before = await load(BASE);
    const { config } = before;
    const after = { ...before, config: { ...config, listen: { ...config.listen, isPortShared: true } } };
    assert.deepEqual(
      fixedChanges(before, after).map(({ path }) => path),
      ["spec.listen.reusePort"],
    );
  });
});
