import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { rewriteResources } from "../../../config/rewrites/resources.ts";
import type { RewriteDocument } from "../../../config/rewrites/schema.ts";
import { editedText } from "../../../config/rewrites/write-file.ts";

const FILE = `# The router.
apiVersion: signalbox/v1
kind: Router
spec: {  pool: {name: llama}  }
---
# The rollout.
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: {name: food}   # a name
spec:
  poolRef: { name: llama }
  rules:
    - matches: [ {model: {value: food}} ]
      targets:
        # stable
        - { modelRewrite: v1, weight: 90 }   # ninety
        # new
        - modelRewrite: "v2"
          weight: 10   # ten
---
kind: InferenceModelRewrite
apiVersion: llm-d.ai/v1alpha2
metadata: { name: food, namespace: other }
spec: { poolRef: { name: llama }, rules: [] }
`;

const FOOD = { namespace: "default", name: "food" };
const documentIn = (text: string, { namespace, name } = FOOD) =>
  rewriteResources([{ file: "a.yaml", text }], { rewrites: [] }).find(
    (each) => each.name === name && each.namespace === namespace,
  )?.document;
const before = documentIn(FILE)!;

type Target = RewriteDocument["spec"]["rules"][number]["targets"][number];

const withTargets = (...targets: Target[]): RewriteDocument => {
  const [rule] = before.spec.rules;
  return { ...before, spec: { ...before.spec, rules: [{ ...rule!, targets }] } };
};

test("changed values change nothing else of the text", () => {
  const after = withTargets({ modelRewrite: "v1", weight: 50 }, { modelRewrite: "v2", weight: 50 });
  const text = editedText(FILE, FOOD, before, after);
  assert.equal(text, FILE.replace("weight: 90", "weight: 50").replace("weight: 10", "weight: 50"));
});

describe("changed structure keeps comments, and the text of other documents", () => {
  const rows: readonly (readonly [name: string, targets: readonly Target[], comments: readonly string[]])[] = [
    [
      "a target more",
      [
        { modelRewrite: "v1", weight: 80 },
        { modelRewrite: "v2", weight: 10 },
        { modelRewrite: "v3", weight: 10 },
      ],
      ["# stable", "# ninety", "# new", "# ten"],
    ],
    ["the first target gone", [{ modelRewrite: "v2", weight: 100 }], ["# ten"]],
    ["the last target gone", [{ modelRewrite: "v1", weight: 100 }], ["# stable", "# ninety"]],
    ["a weight less", [{ modelRewrite: "v2" }], []],
    [
      "another order",
      [
        { modelRewrite: "v2", weight: 90 },
        { modelRewrite: "v1", weight: 10 },
      ],
      ["# stable", "# new"],
    ],
  ];
  for (const [name, targets, comments] of rows) {
    it(name, () => {
      const after = withTargets(...targets);
      const text = editedText(FILE, FOOD, before, after);
      assert.deepEqual(documentIn(text), after);
      assert.ok(text.startsWith(FILE.slice(0, FILE.indexOf("---"))));
      assert.ok(text.endsWith(FILE.slice(FILE.lastIndexOf("---"))));
      for (const comment of ["# The rollout.", "# a name", ...comments]) assert.ok(text.includes(comment), comment);
    });
  }
});

test("references stay where nothing changed", () => {
  const file = FILE.replace("{name: food}", () => `{ name: "$\{SB_NO_SUCH:-food}" }`).replace(
    "weight: 10",
    () => `weight: $\{SB_NO_SUCH:-10}`,
  );
  const old = documentIn(file)!;
  assert.deepEqual(old, before);
  const after = withTargets({ modelRewrite: "v1", weight: 50 }, { modelRewrite: "v2", weight: 10 });
  assert.throws(() => editedText(file, FOOD, old, after), /not a separate document of its file/);
  const named = file.replace(/\{ name: .* \}/, "{ name: food }");
  assert.equal(editedText(named, FOOD, documentIn(named), after), named.replace("weight: 90", "weight: 50"));
});

test("a deleted resource takes its document with it", () => {
  const text = editedText(FILE, FOOD, before, undefined);
  assert.equal(documentIn(text), undefined);
  assert.ok(documentIn(text, { namespace: "other", name: "food" }) !== undefined);
  assert.ok(text.startsWith(FILE.slice(0, FILE.indexOf("---"))));
});

test("a new resource becomes a document at the end", () => {
  const added = { ...before, metadata: { name: "drinks" } };
  const drinks = { namespace: "default", name: "drinks" };
  for (const file of [FILE, FILE.trimEnd(), ""]) {
    const text = editedText(file, drinks, undefined, added);
    assert.ok(text.startsWith(file));
    assert.deepEqual(documentIn(text, drinks), added);
  }
});

test("a resource inside a list can't be changed", () => {
  const list = JSON.stringify({ kind: "List", items: [before] });
  assert.throws(() => editedText(list, FOOD, before, withTargets({ modelRewrite: "v1" })), /change it in the file/);
});
