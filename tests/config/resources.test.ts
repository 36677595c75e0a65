import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type LoadedConfig, loadTexts } from "../../config/load.ts";
import type { ConfigText } from "../../config/read/files.ts";
import { formatProblem } from "../../config/read/problems.ts";
import { POOL, registry, router } from "./support.ts";

const FILE = { file: "a.yaml", text: router(POOL) };

const of = (kind: string, name: string, spec: object, more: object = {}, apiVersion = "llm-d.ai/v1alpha2"): ConfigText => ({
  file: `${kind} llm/${name}`,
  text: "",
  resource: { apiVersion, kind, metadata: { name, namespace: "llm", ...more }, spec },
});
const rewrite = (name: string, target: string, more: object = {}, pool = "llama") =>
  of(
    "InferenceModelRewrite",
    name,
    {
      poolRef: { group: "inference.networking.k8s.io", kind: "InferencePool", name: pool },
      rules: [{ targets: [{ modelRewrite: target }] }],
    },
    more,
  );
const routerResource = (spec: object) => of("Router", "main", spec, {}, "signalbox.dev/v1");

async function load(...texts: readonly ConfigText[]): Promise<LoadedConfig> {
  const result = await loadTexts(texts, registry);
  if (result.problems !== undefined) assert.fail(result.problems.map(formatProblem).join("\n"));
  return result;
}

async function linesOf(...texts: readonly ConfigText[]): Promise<readonly string[]> {
  return ((await loadTexts(texts, registry)).problems ?? []).map(formatProblem);
}

describe("resources of a cluster", () => {
  test("are read beside files, the oldest first", async () => {
    const older = { creationTimestamp: "2026-01-01T00:00:00Z" };
    const newer = { creationTimestamp: "2026-01-02T00:00:00Z" };
    const { config } = await load(FILE, rewrite("b", "b", newer), rewrite("c", "c", older), rewrite("a", "a", newer));
    assert.deepEqual(
      config.rewrites.map(({ name }) => name),
      ["c/0", "a/0", "b/0"],
    );
  });

  test("are named in problems, with the path and no line", async () => {
    const lines = await linesOf(FILE, of("InferenceModelRewrite", "x", { poolRef: { name: "llama" }, rules: [{ targets: [] }] }));
    assert.deepEqual(lines, ["InferenceModelRewrite llm/x  spec.rules[0].targets  found an empty list; wanted at least 1 item."]);
  });

  test("about other pools are left out, whatever is in them", async () => {
    const { config, elsewhere, texts } = await load(
      FILE,
      rewrite("ours", "v1"),
      rewrite("theirs", "v1", {}, "other"),
      of("InferenceModelRewrite", "broken", { poolRef: { name: "other" }, rules: "none" }),
      of("InferenceObjective", "fast", { poolRef: { group: "example.com", name: "llama" }, priority: 5 }),
    );
    assert.deepEqual(config.rewrites.length, 1);
    assert.deepEqual([...elsewhere].sort(), [
      "InferenceModelRewrite llm/broken",
      "InferenceModelRewrite llm/theirs",
      "InferenceObjective llm/fast",
    ]);
    assert.deepEqual(
      texts.map(({ file }) => file),
      ["a.yaml", "InferenceModelRewrite llm/ours"],
    );
  });

  test("mean what they say: nothing of the environment gets into them", async () => {
    process.env["SIGNALBOX_TEST_SECRET"] = "from the environment";
    const { config } = await load(FILE, rewrite("x", `\${SIGNALBOX_TEST_SECRET}`));
    delete process.env["SIGNALBOX_TEST_SECRET"];
    assert.equal(config.rewrites[0]?.targets[0]?.name, `\${SIGNALBOX_TEST_SECRET}`);
  });

  test("of kind InferenceObjective have a priority", async () => {
    const { config } = await load(
      FILE,
      of("InferenceObjective", "fast", { poolRef: { name: "llama" }, priority: -3 }),
      of("InferenceObjective", "usual", { poolRef: { name: "llama" } }),
    );
    assert.deepEqual(config.objectives, [
      { name: "fast", namespace: "llm", priority: -3 },
      { name: "usual", namespace: "llm", priority: 0 },
    ]);
  });
});

describe("a Router resource", () => {
  test("gives the sections that the file does not have", async () => {
    const { config, positionOf } = await load(FILE, routerResource({ limits: { settleMs: 5000 }, responseHeaders: false }));
    assert.equal(config.pool.name, "llama");
    assert.equal(config.settings.limits.settleMs, 5000);
    assert.equal(config.settings.hasRoutingHeaders, false);
    assert.equal(positionOf(["spec", "limits", "settleMs"]).file, "Router llm/main");
    assert.deepEqual(positionOf(["spec", "pool", "name"]), { file: "a.yaml", line: 4, column: 17 });
  });

  test("may not have what the file has, nor what can't change", async () => {
    const lines = await linesOf(FILE, routerResource({ pool: { name: "other" }, listen: { port: 1 }, limts: {} }));
    assert.deepEqual(lines.slice(1), [
      "Router llm/main  spec.pool  found spec.pool, which a.yaml has too; wanted each section in one place.",
      "Router llm/main  spec.listen  found spec.listen in a resource; wanted it in a.yaml.",
    ]);
    assert.match(lines[0]!, /^Router llm\/main {2}spec\.limts {2}found the unknown key "limts".*Did you mean "limits"\?$/);
  });
});

test("a file may use the API group of the cluster, and have objectives", async () => {
  const text = `apiVersion: signalbox.dev/v1\nkind: Router\nspec:\n${POOL}---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceObjective
metadata: { name: fast }
spec: { poolRef: { name: lama }, priority: 1.5 }
`;
  const lines = await linesOf({ file: "a.yaml", text });
  assert.deepEqual(lines, [
    'a.yaml:9:26  spec.poolRef.name  found "lama", which is not this router\'s pool; wanted "llama". Did you mean "llama"?',
    "a.yaml:9:44  spec.priority  found 1.5; wanted a whole number from -2147483648 to 2147483647.",
  ]);
});
