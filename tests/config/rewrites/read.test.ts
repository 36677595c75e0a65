import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { configOf, POOL, problemsOf, router } from "../support.ts";

interface Parts {
  readonly name?: string;
  readonly created?: string;
  readonly namespace?: string;
  readonly apiVersion?: string;
  readonly poolRef?: string;
  readonly rules?: string;
}

/** A rewrite resource with its rules on line 7. */
function rewrite({
  name = "r",
  created,
  namespace,
  apiVersion = "llm-d.ai/v1alpha2",
  poolRef = "name: llama",
  rules = "{ targets: [{ modelRewrite: m }] }",
}: Parts): string {
  const metadata = [
    `name: ${name}`,
    created === undefined ? "" : `creationTimestamp: ${created}`,
    namespace === undefined ? "" : `namespace: ${namespace}`,
  ];
  return `apiVersion: ${apiVersion}
kind: InferenceModelRewrite
metadata: { ${metadata.filter(Boolean).join(", ")} }
spec:
  poolRef: { ${poolRef} }
  rules:
    - ${rules}
`;
}

const withRouter = (...resources: readonly string[]) => [router(POOL), ...resources].join("---\n");

const REFERENCE = `apiVersion: inference.networking.x-k8s.io/v1alpha2
kind: InferenceModelRewrite
metadata:
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: |
      {"apiVersion":"inference.networking.x-k8s.io/v1alpha2","kind":"InferenceModelRewrite"}
  creationTimestamp: "2025-12-03T11:42:38Z"
  generation: 3
  labels:
    app: food-review
  managedFields:
  - apiVersion: inference.networking.x-k8s.io/v1alpha2
    fieldsType: FieldsV1
    fieldsV1:
      f:spec:
        .: {}
        f:rules: {}
    manager: kubectl
    operation: Apply
    time: "2025-12-03T11:42:38Z"
  name: food-review
  namespace: llm-d
  resourceVersion: "4711"
  uid: 9a1f1f0e-0b5c-4a37-9a5e-0d7e3b0a2f11
spec:
  poolRef:
    group: inference.networking.k8s.io
    kind: InferencePool
    name: llama
  rules:
  - matches:
    - model:
        type: Exact
        value: food-review
    targets:
    - modelRewrite: food-review-v1
      weight: 90
    - modelRewrite: food-review-v2
      weight: 10
status:
  conditions:
  - lastTransitionTime: "1970-01-01T00:00:00Z"
    message: Waiting for controller
    reason: Pending
    status: Unknown
    type: Accepted
`;

const FOOD_REVIEW = {
  name: "food-review/0",
  models: ["food-review"],
  targets: [
    { name: "food-review-v1", weight: 90 },
    { name: "food-review-v2", weight: 10 },
  ],
  stickyHeader: "",
  onUnavailable: "refuse",
};

describe("a resource from a cluster loads unchanged", () => {
  const indented = REFERENCE.split("\n").map((line, index) => (index === 0 ? `- ${line}` : line === "" ? "" : `  ${line}`));
  const cases: readonly (readonly [name: string, text: string])[] = [
    ["as kubectl prints one", REFERENCE],
    ["as kubectl prints several", `apiVersion: v1\nitems:\n${indented.join("\n")}kind: List\nmetadata:\n  resourceVersion: ""\n`],
    ["with a timestamp that is null", REFERENCE.replace('"2025-12-03T11:42:38Z"', "null")],
  ];
  for (const [name, text] of cases) {
    test(name, async () => {
      const config = await configOf(withRouter(text));
      assert.deepEqual(config.rewrites, [FOOD_REVIEW]);
      assert.deepEqual(config.plugins.find((entry) => entry.name === "model-rewrite")?.parameters, { rules: [FOOD_REVIEW] });
    });
  }
});

test("without weights, targets get equal shares", async () => {
  const { rewrites } = await configOf(withRouter(rewrite({ rules: "{ targets: [{ modelRewrite: a }, { modelRewrite: b }] }" })));
  assert.deepEqual(rewrites[0]?.targets, [
    { name: "a", weight: 1 },
    { name: "b", weight: 1 },
  ]);
});

test("a rule has keys of its own", async () => {
  const rules =
    "{ matches: [{ model: { value: m } }, { model: { value: n } }, { model: { value: m } }], targets: [{ modelRewrite: a, weight: 0 }, { modelRewrite: b, weight: 1000000 }], sticky: { header: X-Session-ID }, onUnavailable: redistribute }";
  const { rewrites } = await configOf(withRouter(rewrite({ rules })));
  assert.deepEqual(rewrites, [
    {
      name: "r/0",
      models: ["m", "n"],
      targets: [
        { name: "a", weight: 0 },
        { name: "b", weight: 1_000_000 },
      ],
      stickyHeader: "x-session-id",
      onUnavailable: "redistribute",
    },
  ]);
});

describe("rules are matched in a stable order", () => {
  const exact = "{ matches: [{ model: { value: m } }], targets: [{ modelRewrite: t }] }";
  const every = "{ targets: [{ modelRewrite: t }] }";
  const both = `${every}\n    - { matches: [], targets: [{ modelRewrite: t }] }\n    - ${exact}`;
  const old = "2024-01-01T00:00:00Z";
  const young = "2025-01-01T00:00:00Z";
  const cases: readonly (readonly [name: string, resources: readonly Parts[], order: string])[] = [
    [
      "named models before every model, however young",
      [
        { name: "a", created: old, rules: every },
        { name: "b", created: young, rules: exact },
      ],
      "b/0 a/0",
    ],
    ["within one resource too", [{ name: "a", rules: both }], "a/2 a/0 a/1"],
    [
      "the older resource first",
      [
        { name: "a", created: young },
        { name: "b", created: old },
      ],
      "b/0 a/0",
    ],
    [
      "times in other zones",
      [
        { name: "a", created: "2025-01-01T00:30:00+01:00" },
        { name: "b", created: "2024-12-31T23:45:00Z" },
      ],
      "a/0 b/0",
    ],
    [
      "by name at the same time",
      [
        { name: "b", created: old },
        { name: "a", created: old },
      ],
      "a/0 b/0",
    ],
    ["file order without times, whatever the names", [{ name: "z" }, { name: "a" }, { name: "m" }], "z/0 a/0 m/0"],
    ["those without a time last", [{ name: "a" }, { name: "b", created: young }, { name: "c" }], "b/0 a/0 c/0"],
    [
      "the same name in two namespaces",
      [
        { name: "a", namespace: "x" },
        { name: "a", namespace: "y" },
        { name: "b", namespace: "x" },
      ],
      "x/a/0 y/a/0 b/0",
    ],
  ];
  for (const [name, resources, order] of cases) {
    test(name, async () => {
      const { rewrites } = await configOf(withRouter(...resources.map(rewrite)));
      assert.equal(rewrites.map((rule) => rule.name).join(" "), order);
    });
  }
});

describe("a resource is refused", () => {
  const weighted = (...weights: readonly string[]) =>
    `{ targets: [${weights.map((weight) => `{ modelRewrite: t${weight && `, weight: ${weight}`} }`).join(", ")}] }`;
  const cases: readonly (readonly [name: string, parts: Parts, line: string])[] = [
    [
      "with mixed weights",
      { rules: weighted("90", "") },
      "7:52  spec.rules[0].targets[1]  found a target without a weight beside one with; wanted a weight on every target, or on none.",
    ],
    [
      "with only weights of 0",
      { rules: weighted("0", "0") },
      "7:18  spec.rules[0].targets  found only weights of 0; wanted at least one weight above 0.",
    ],
    [
      "with a single weight of 0",
      { rules: weighted("0") },
      "7:18  spec.rules[0].targets  found only weights of 0; wanted at least one weight above 0.",
    ],
    [
      "with a fraction",
      { rules: weighted("0.5") },
      "7:46  spec.rules[0].targets[0].weight  found 0.5; wanted a whole number from 0 to 1000000.",
    ],
    [
      "with a weight below 0",
      { rules: weighted("-1") },
      "7:46  spec.rules[0].targets[0].weight  found -1; wanted a whole number from 0 to 1000000.",
    ],
    [
      "with a weight that is too large",
      { rules: weighted("1000001") },
      "7:46  spec.rules[0].targets[0].weight  found 1000001; wanted a whole number from 0 to 1000000.",
    ],
    [
      "with a weight that is text",
      { rules: weighted('"90"') },
      '7:46  spec.rules[0].targets[0].weight  found "90"; wanted a whole number from 0 to 1000000. Remove the quotes.',
    ],
    [
      "without targets",
      { rules: "{ matches: [{ model: { value: m } }] }" },
      '7:7  spec.rules[0].targets  found no "targets"; wanted a list.',
    ],
    [
      "with too many targets",
      { rules: weighted(...new Array<string>(1_001).fill("1")) },
      "7:18  spec.rules[0].targets  found a list; wanted at most 1000 targets in a rule.",
    ],
    [
      "with an empty list of targets",
      { rules: "{ targets: [] }" },
      "7:18  spec.rules[0].targets  found an empty list; wanted at least 1 item.",
    ],
    [
      "for another pool",
      { poolRef: "name: lama" },
      '5:20  spec.poolRef.name  found "lama", which is not this router\'s pool; wanted "llama". Did you mean "llama"?',
    ],
    [
      "for quite another pool",
      { poolRef: "name: mistral" },
      '5:20  spec.poolRef.name  found "mistral", which is not this router\'s pool; wanted "llama". The pool\'s name is spec.pool.name of the Router document.',
    ],
    [
      "for another group",
      { poolRef: "group: inference.k8s.io, name: llama" },
      '5:21  spec.poolRef.group  found "inference.k8s.io"; wanted "inference.networking.k8s.io" or "inference.networking.x-k8s.io".',
    ],
    [
      "without a pool's name",
      { poolRef: "group: inference.networking.k8s.io" },
      '5:12  spec.poolRef.name  found no "name"; wanted text.',
    ],
    [
      "with an unsupported match type",
      { rules: "{ matches: [{ model: { type: Prefix, value: m } }], targets: [{ modelRewrite: t }] }" },
      '7:36  spec.rules[0].matches[0].model.type  found "Prefix"; wanted "Exact".',
    ],
    [
      "with an unknown key",
      { rules: "{ match: [{ model: { value: m } }], targets: [{ modelRewrite: t }] }" },
      '7:9  spec.rules[0].match  found the unknown key "match"; wanted one of: matches, targets, sticky, onUnavailable. Did you mean "matches"?',
    ],
    [
      "with a mistyped choice",
      { rules: "{ targets: [{ modelRewrite: t }], onUnavailable: redistribut }" },
      '7:56  spec.rules[0].onUnavailable  found "redistribut"; wanted "refuse" or "redistribute". Did you mean "redistribute"?',
    ],
    [
      "with a header that can't be one",
      { rules: '{ targets: [{ modelRewrite: t }], sticky: { header: "a b" } }' },
      '7:59  spec.rules[0].sticky.header  found "a b"; wanted a header name.',
    ],
    [
      "with a model name that breaks a line",
      { rules: '{ targets: [{ modelRewrite: "a\\nb" }] }' },
      '7:35  spec.rules[0].targets[0].modelRewrite  found "a\\nb"; wanted text on one line, without control characters.',
    ],
    [
      "with a time that is none",
      { created: "yesterday" },
      '3:41  metadata.creationTimestamp  found "yesterday"; wanted a time such as 2026-01-31T12:00:00Z.',
    ],
    [
      "of another version",
      { apiVersion: "llm-d.ai/v1alpha1" },
      '1:13  apiVersion  found "llm-d.ai/v1alpha1"; wanted llm-d.ai/v1alpha2 or inference.networking.x-k8s.io/v1alpha2. Did you mean "llm-d.ai/v1alpha2"?',
    ],
  ];
  for (const [name, parts, line] of cases) {
    test(name, async () => {
      assert.deepEqual(await problemsOf({ "r.yaml": router(POOL), "w.yaml": rewrite(parts) }), [`w.yaml:${line}`]);
    });
  }

  test("with the name of another, in any file", async () => {
    assert.deepEqual(
      await problemsOf({
        "r.yaml": router(POOL),
        "b.yaml": rewrite({ name: "x" }),
        "a.yaml": rewrite({ name: "x", namespace: "default" }),
      }),
      [
        'a.yaml:3:19  metadata.name  found the InferenceModelRewrite "x" a second time (the first is in b.yaml); wanted each resource once.',
      ],
    );
  });

  test("in a list, reported at its place in the list", async () => {
    const item = {
      apiVersion: "llm-d.ai/v1alpha2",
      kind: "InferenceModelRewrite",
      metadata: { name: "x" },
      spec: { poolRef: { name: "llama" }, rules: [{}] },
    };
    const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: [item] });
    const column = list.indexOf("{}") + 1;
    assert.deepEqual(await problemsOf({ "r.yaml": router(POOL), "l.json": list }), [
      `l.json:1:${column}  items[0].spec.rules[0].targets  found no "targets"; wanted a list.`,
    ]);
  });
});
