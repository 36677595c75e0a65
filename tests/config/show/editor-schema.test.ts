import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadTexts } from "../../../config/load.ts";
import { editorSchema } from "../../../config/show/editor-schema.ts";
import { DEFAULT_LIMITS } from "../../../core/settings.ts";
import { builtIns } from "../../../plugins/registry.ts";
import { POOL, registry, router } from "../support.ts";

type Node = Readonly<Record<string, unknown>>;

function nodeAt(root: unknown, ...path: readonly (string | number)[]): Node {
  let node = root;
  for (const step of path) node = (node as Record<string | number, unknown>)[step];
  return node as Node;
}

const SPEC = ["definitions", "Router", "properties", "spec", "properties"];

test("the committed schema is current", () => {
  const committed: unknown = JSON.parse(
    readFileSync(join(import.meta.dirname ?? ".", "../../../config/signalbox.schema.json"), "utf8"),
  );
  assert.deepEqual(committed, JSON.parse(JSON.stringify(editorSchema(builtIns))), "run: npm run schema");
});

test("the schema has a name of its own, which does not depend on where it lies", () => {
  assert.equal(editorSchema(registry)["$id"], "urn:signalbox:config:v1");
});

test("the schema names every limit with its default", () => {
  const limits = nodeAt(editorSchema(registry), ...SPEC, "limits", "properties");
  assert.deepEqual(Object.keys(limits), Object.keys(DEFAULT_LIMITS));
  assert.match(String(nodeAt(limits, "retries")["description"]), /Default 2\.$/);
});

test("the schema ties a plugin's parameters to its type", () => {
  const entry = nodeAt(editorSchema(registry), ...SPEC, "plugins", "items");
  const types = (nodeAt(entry, "properties", "type")["anyOf"] as readonly Node[]).map((one) => one["const"]);
  assert.ok(types.includes("prefix-cache") && !types.includes("static") && !types.includes("model-rewrite"));
  const conditions = entry["allOf"] as readonly Node[];
  const ofCache = conditions.find((one) => nodeAt(one, "if", "properties", "type")["const"] === "prefix-cache");
  assert.deepEqual(nodeAt(ofCache, "then", "properties", "parameters", "properties", "blockBytes"), {
    default: 256,
    maximum: Number.MAX_SAFE_INTEGER,
    minimum: 16,
    type: "integer",
  });
});

test("the schema offers filters, scorers and pickers where a profile names a plugin", () => {
  const ref = nodeAt(
    editorSchema(registry),
    ...SPEC,
    "profiles",
    "items",
    "properties",
    "plugins",
    "items",
    "properties",
    "pluginRef",
  );
  const offered = (ref["anyOf"] as readonly Node[]).map((one) => one["const"]).filter(Boolean);
  assert.deepEqual(offered, [
    "label-selector",
    "max-score",
    "outstanding-work",
    "prefix-cache",
    "queue",
    "random",
    "ready",
    "serves-model",
  ]);
});

test("the built-in plugins fit the defaults", async () => {
  const rewrite = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food }
spec:
  poolRef: { name: llama }
  rules: [{ matches: [{ model: { value: food } }], targets: [{ modelRewrite: v1 }] }]
`;
  const { config, problems } = await loadTexts([{ file: "a.yaml", text: router(POOL) + rewrite }], builtIns);
  assert.equal(problems, undefined);
  assert.deepEqual(config?.plugins.find(({ name }) => name === "model-rewrite")?.parameters, { rules: config?.rewrites });
  assert.deepEqual(config?.plugins.find(({ name }) => name === "static")?.parameters, { endpoints: config?.pool.endpoints });
});
