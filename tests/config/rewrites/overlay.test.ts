import assert from "node:assert/strict";
import { test } from "node:test";
import { loadTexts } from "../../../config/load.ts";
import { formatProblem } from "../../../config/read/problems.ts";
import type { RewriteChange } from "../../../config/rewrites/overlay.ts";
import { POOL, registry, router } from "../support.ts";

const document = (name: string, target: string, namespace?: string) => ({
  apiVersion: "llm-d.ai/v1alpha2",
  kind: "InferenceModelRewrite",
  metadata: { name, ...(namespace && { namespace }) },
  spec: { poolRef: { name: "llama" }, rules: [{ matches: [{ model: { value: name } }], targets: [{ modelRewrite: target }] }] },
});

/** Rewrites `a`, `b` and, in another namespace, `c`; each has the target "file". */
const TEXT = [
  router(POOL),
  ...[document("a", "file"), document("b", "file"), document("c", "file", "other")].map((each) => JSON.stringify(each)),
].join("\n---\n");

const NOTE = { by: "127.0.0.1", sinceMs: 0, untilMs: undefined };
const put = (name: string, target: string, namespace = "default"): RewriteChange => ({
  namespace,
  name,
  document: document(name, target, namespace),
  ...NOTE,
});
const deleted = (name: string, namespace = "default"): RewriteChange => ({ namespace, name, document: undefined, ...NOTE });

const cases: readonly (readonly [name: string, changes: readonly RewriteChange[], rules: readonly string[]])[] = [
  ["nothing", [], ["a/0 file", "b/0 file", "c/0 file"]],
  ["a put one takes the place of the file's", [put("a", "new")], ["a/0 new", "b/0 file", "c/0 file"]],
  ["a new one comes last", [put("0", "new")], ["a/0 file", "b/0 file", "c/0 file", "0/0 new"]],
  ["a deleted one is gone", [deleted("b")], ["a/0 file", "c/0 file"]],
  ["one that is not there may be deleted", [deleted("x")], ["a/0 file", "b/0 file", "c/0 file"]],
  [
    "a namespace makes another resource",
    [deleted("c"), put("a", "new", "other")],
    ["default/a/0 file", "b/0 file", "c/0 file", "other/a/0 new"],
  ],
  ["made for the file's own", [{ ...put("a", "new"), madeFor: document("a", "file") }], ["a/0 new", "b/0 file", "c/0 file"]],
  ["made for another one", [{ ...put("a", "new"), madeFor: document("a", "old") }], ["a/0 file", "b/0 file", "c/0 file"]],
  ["made for one that is gone", [{ ...put("x", "new"), madeFor: document("x", "file") }], ["a/0 file", "b/0 file", "c/0 file"]],
  ["of another namespace", [deleted("c", "other")], ["a/0 file", "b/0 file"]],
  [
    "names of JavaScript are names",
    [put("__proto__", "new"), deleted("constructor")],
    ["a/0 file", "b/0 file", "c/0 file", "__proto__/0 new"],
  ],
];
for (const [name, rewrites, rules] of cases) {
  test(`an overlay: ${name}`, async () => {
    const loaded = await loadTexts([{ file: "a.yaml", text: TEXT }], registry, [], { rewrites });
    assert.deepEqual(loaded.problems?.map(formatProblem), undefined);
    assert.deepEqual(
      loaded.config?.rewrites.map((rule) => `${rule.name} ${rule.targets[0]?.name}`),
      rules,
    );
  });
}

test("a problem in an overlay names the resource and the key", async () => {
  const broken = { ...document("a", "new"), spec: { poolRef: { name: "other" }, rules: [{ targets: [] }] } };
  const change = { namespace: "default", name: "a", document: broken, ...NOTE };
  const { problems = [] } = await loadTexts([{ file: "a.yaml", text: TEXT }], registry, [], { rewrites: [change] });
  assert.equal(problems.length, 2, "the rule and the pool");
  assert.match(formatProblem(problems[0]!), /^admin API, InferenceModelRewrite "a" {2}spec\.rules\[0\]\.targets /);
});
