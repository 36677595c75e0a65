import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { loadTexts } from "../../../config/load.ts";
import { formatProblem } from "../../../config/read/problems.ts";
import { builtIns } from "../../../plugins/registry.ts";

const HEAD = 'apiVersion: signalbox/v1\nkind: Router\nspec:\n  pool: { endpoints: [ { url: "http://a:1" } ] }\n';
const RULES = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food-review }
spec: { poolRef: { name: default }, rules: [ { targets: [ { modelRewrite: food-v1, weight: 1 }, { modelRewrite: food-v2, weight: 0 } ] } ] }
---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: two }
spec:
  poolRef: { name: default }
  rules:
    - { matches: [ { model: { type: Exact, value: x } } ], targets: [ { modelRewrite: food-v1 } ] }
    - { matches: [ { model: { type: Exact, value: y } } ], targets: [ { modelRewrite: food-v1 } ] }
`;

async function load(spec: string, documents = RULES) {
  return loadTexts([{ file: "a.yaml", text: `${HEAD}${spec}\n${documents}` }], builtIns);
}

async function problemsOf(spec: string, documents = RULES): Promise<readonly string[]> {
  const { problems = [] } = await load(spec, documents);
  return problems.map(formatProblem);
}

describe("spec.mirrors", () => {
  test("is read with its defaults; a resource's name stands for its only rule", async () => {
    const { config } = await load(
      "  mirrors: [ { rule: food-review, target: food-v2 }, { rule: two/1, target: food-v2, percent: 0.5 } ]",
    );
    assert.deepEqual(config?.features.get("mirrors"), [
      { rule: "food-review/0", target: "food-v2", percent: 100, maxInFlight: 16, timeoutMs: 60_000 },
      { rule: "two/1", target: "food-v2", percent: 0.5, maxInFlight: 16, timeoutMs: 60_000 },
    ]);
  });

  const cases: readonly (readonly [name: string, entries: string, problems: readonly string[]])[] = [
    [
      "a mistyped rule",
      "{ rule: food-reviev, target: food-v2 }",
      [
        'a.yaml:5:22  spec.mirrors[0].rule  found "food-reviev", which is not the name of a rewrite rule; wanted the name of a rule. Did you mean "food-review"?',
      ],
    ],
    [
      "a resource with two rules",
      "{ rule: two, target: food-v2 }",
      [
        'a.yaml:5:22  spec.mirrors[0].rule  found "two", which is not the name of a rewrite rule; wanted the name of a rule. Its rules are two/0, two/1.',
      ],
    ],
    [
      "a mistyped target",
      "{ rule: food-review, target: food-v3 }",
      [
        'a.yaml:5:43  spec.mirrors[0].target  found "food-v3", which no rewrite rule has as a target; wanted the modelRewrite of a target. Did you mean "food-v1"?',
      ],
    ],
    [
      "a target that nobody lists",
      "{ rule: food-review, target: llama-70b }",
      [
        'a.yaml:5:43  spec.mirrors[0].target  found "llama-70b", which no rewrite rule has as a target; wanted the modelRewrite of a target. List it in the rule, with the weight 0 if clients are not to get it.',
      ],
    ],
    [
      "the same twice",
      "{ rule: food-review, target: food-v2 }, { rule: food-review/0, target: food-v2 }",
      [
        'a.yaml:5:54  spec.mirrors[1]  found a second mirror of "food-review/0" to "food-v2"; wanted one mirror for each rule and target.',
      ],
    ],
    [
      "shares and bounds that are none",
      "{ rule: food-review, target: food-v2, percent: 0, maxInFlight: 0, timeoutSeconds: 2h }",
      [
        "a.yaml:5:61  spec.mirrors[0].percent  found 0; wanted a number above 0, at most 100.",
        "a.yaml:5:77  spec.mirrors[0].maxInFlight  found 0; wanted a whole number from 1 to 1024.",
        'a.yaml:5:96  spec.mirrors[0].timeoutSeconds  found "2h"; wanted a number of seconds from 1 to 3600.',
      ],
    ],
  ];
  for (const [name, entries, problems] of cases)
    test(name, async () => assert.deepEqual(await problemsOf(`  mirrors: [ ${entries} ]`), problems));

  test("a rule that can't be read is not also missed", async () => {
    const problems = await problemsOf(
      "  mirrors: [ { rule: food-review, target: food-v2 } ]",
      RULES.replace("weight: 1", "weight: x"),
    );
    assert.equal(problems.length, 1);
  });
});

describe("spec.shadow", () => {
  test("has instances of its own, behind the default filters", async () => {
    const { config } = await load("  shadow: { name: candidate, plugins: [ { pluginRef: queue, weight: 2 } ] }");
    assert.deepEqual(config?.others.get("shadow"), {
      name: "candidate",
      percent: 100,
      plugins: [
        { pluginRef: "shadow/ready" },
        { pluginRef: "shadow/serves-model" },
        { pluginRef: "shadow/queue", weight: 2 },
        { pluginRef: "shadow/max-score" },
      ],
    });
    const own = config?.plugins.filter(({ name }) => name.startsWith("shadow/")).map(({ name, type }) => [name, type]);
    assert.deepEqual(own, [
      ["shadow/ready", "ready"],
      ["shadow/serves-model", "serves-model"],
      ["shadow/queue", "queue"],
      ["shadow/max-score", "max-score"],
    ]);
  });

  test("a listed plugin that only the shadow uses is used", async () => {
    const { warnings } = await load(
      "  plugins: [ { type: queue, name: mine } ]\n  profiles: [ { plugins: [ { pluginRef: running } ] } ]\n  shadow: { plugins: [ { pluginRef: mine } ] }",
    );
    assert.deepEqual(warnings, []);
  });

  const cases: readonly (readonly [name: string, spec: string, problem: RegExp])[] = [
    [
      "a mistyped plugin",
      "  shadow: { plugins: [ { pluginRef: quee } ] }",
      /^a\.yaml:5:37 {2}spec\.shadow\.plugins\[0\]\.pluginRef .* Did you mean "queue"\?$/,
    ],
    [
      "a weight on a picker",
      "  shadow: { plugins: [ { pluginRef: random, weight: 2 } ] }",
      /spec\.shadow\.plugins\[0\]\.weight .* weights on scorers only/,
    ],
    [
      "a share of more than all",
      "  shadow: { percent: 101, plugins: [] }",
      /^a\.yaml:5:22 {2}spec\.shadow\.percent {2}found 101; wanted a number above 0/,
    ],
    [
      "plugins whose profile is not said",
      "  plugins: [ { type: queue } ]\n  shadow: { plugins: [ { pluginRef: queue } ] }",
      /^a\.yaml:6:3 {2}spec\.shadow {2}found a shadow, and plugins that no profile lists; wanted spec\.profiles/,
    ],
  ];
  for (const [name, spec, problem] of cases) {
    test(name, async () => {
      const problems = await problemsOf(spec);
      assert.equal(problems.length, 1, problems.join("\n"));
      assert.match(problems[0]!, problem);
    });
  }
});
