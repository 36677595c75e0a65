import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { loadTexts } from "../../../../config/load.ts";
import { formatProblem } from "../../../../config/read/problems.ts";
import { guardSection } from "../../../../plugins/features/rollouts/guard-config.ts";
import { configOf, loaded, POOL, problemsOf, registry, router } from "../../../config/support.ts";

/** The guard's line is 5. */
const withGuards = (guards: string, resource = REWRITE) => `${router(`${POOL}  guards: [ ${guards} ]\n`)}---\n${resource}`;

const rewriteOf = (metadata: string, targets: string) => `apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { ${metadata} }
spec:
  poolRef: { name: llama }
  rules: [ { matches: [ { model: { value: food } } ], targets: [ ${targets} ], sticky: { header: X-User } } ]
`;
const THREE = "{ modelRewrite: v1, weight: 20 }, { modelRewrite: v2, weight: 10 }, { modelRewrite: v3, weight: 70 }";
const REWRITE = rewriteOf("name: food", THREE);
const annotated = (text: string) =>
  `${router(POOL)}---\n${rewriteOf(`name: food, annotations: { "signalbox/guard": "${text}" }`, THREE)}`;

const guardsOf = async (text: string) => guardSection.of((await configOf(text)).features);

describe("a guard", () => {
  test("has defaults, and the target with the largest weight to compare with", async () => {
    const guards = await guardsOf(withGuards("{ rule: food, target: v2 }"));
    assert.deepEqual(guards, [
      {
        name: "food/0 v2",
        rule: "food/0",
        target: "v2",
        against: "v3",
        place: { namespace: "default", resource: "food", index: 0 },
        stickyHeader: "x-user",
        worseBy: { errorRate: 0.02, ttft: 0.5 },
        confidence: 0.95,
        minRequests: 50,
        isAnnotation: false,
      },
    ]);
  });

  test("judges only what it names, in parts or percent", async () => {
    const text = "{ rule: food/0, target: v3, against: v1, worseBy: { ttft: 25% }, confidence: 99.5%, minRequests: 7 }";
    const [guard] = await guardsOf(withGuards(text));
    assert.deepEqual(
      [guard?.against, guard?.worseBy, guard?.confidence, guard?.minRequests],
      ["v1", { errorRate: undefined, ttft: 0.25 }, 0.995, 7],
    );
  });

  test("is said by the effective config and by what a reload changes", async () => {
    const { changesBetween } = await import("../../../../config/show/changes.ts");
    const { effectiveConfig } = await import("../../../../config/show/effective.ts");
    const [without, one] = [await loaded(withGuards("")), await loaded(withGuards("{ rule: food, target: v2 }"))];
    assert.deepEqual(changesBetween(without, one), ["guard food/0 v2 added"]);
    assert.deepEqual(effectiveConfig(one, {}).router.spec["guards"], [
      { rule: "food/0", target: "v2", against: "v3", worseBy: { errorRate: 0.02, ttft: 0.5 }, confidence: 0.95, minRequests: 50 },
    ]);
    assert.equal(effectiveConfig(one, {}).origins["spec.guards[0].target"], "a.yaml:5:35");
  });

  test("is printed once where it is an annotation", async () => {
    const { effectiveConfig } = await import("../../../../config/show/effective.ts");
    assert.equal(effectiveConfig(await loaded(annotated("target=v2")), {}).router.spec["guards"], undefined);
  });

  test("comes with its resource in an annotation too, also several of them", async () => {
    const guards = await guardsOf(annotated("target=v2 errorRate=1% confidence=0.9; target=v1 rule=0 against=v2 minRequests=10"));
    assert.deepEqual(
      guards.map(({ name, against, worseBy, confidence, minRequests }) => [name, against, worseBy, confidence, minRequests]),
      [
        ["food/0 v2", "v3", { errorRate: 0.01, ttft: undefined }, 0.9, 50],
        ["food/0 v1", "v2", { errorRate: 0.02, ttft: 0.5 }, 0.95, 10],
      ],
    );
  });
});

describe("refused, with its place:", () => {
  const cases: readonly (readonly [text: string, problem: RegExp])[] = [
    [withGuards("{ rule: food, target: v2, agianst: v1 }"), /^5:39 {2}spec\.guards\[0\]\.agianst .*Did you mean "against"\?/m],
    [withGuards("{ rule: food, target: v2, worseBy: { ttft: 1, errorrate: 1 } }"), /errorrate .*Did you mean "errorRate"\?/],
    [
      withGuards("{ rule: food, target: v2, worseBy: { errorRate: 2 } }"),
      /spec\.guards\[0\]\.worseBy\.errorRate .*percent such as 2%/,
    ],
    [withGuards("{ rule: food, target: v2, worseBy: {} }"), /spec\.guards\[0\]\.worseBy .*errorRate, ttft or both/],
    [withGuards("{ rule: food, target: v2, confidence: 95 }"), /spec\.guards\[0\]\.confidence .*from 0\.5 to below 1/],
    [withGuards("{ rule: food, target: v2, minRequests: 0 }"), /spec\.guards\[0\]\.minRequests .*whole number from 1/],
    [withGuards("{ rule: food, target: v2, against: v2 }"), /^5:\d+ {2}spec\.guards\[0\]\.against {2}found "v2" against itself/m],
    [withGuards("{ rule: food, target: v2 }, { rule: food/0, target: v2 }"), /spec\.guards\[1\]\.target {2}found a second guard/],
    [annotated("target=v9"), /^8:\d+ {2}metadata\.annotations\["signalbox\/guard"\] {2}found "v9", which is no such target/m],
    [annotated("target=v2 errorRte=1%"), /Did you mean "errorRate"\?/],
    [annotated("target=v2 errorRate=lots"), /found "lots" for worseBy\.errorRate in a guard/],
    [annotated("v2"), /Write KEY=VALUE/],
    [annotated("errorRate=2%"), /found no "target" for target in a guard/],
    [annotated("target=v2 rule=3"), /found "food\/3", which is no rewrite/],
    [
      annotated("target=v2").replace("signalbox/guard", "signalbox/gaurd"),
      /unknown annotation .*Did you mean "signalbox\/guard"\?/,
    ],
    [
      `${router(POOL)}---\n${rewriteOf('name: food, annotations: { "signalbox/guard": "target=v1" }', "{ modelRewrite: v1 }")}`,
      /found "v1", the only target of the rule food\/0/,
    ],
  ];
  for (const [text, problem] of cases) {
    test(String(problem), async () => {
      const problems = await problemsOf(text);
      assert.equal(problems.length, 1, problems.join("\n"));
      assert.match(problems[0]!, problem);
    });
  }
});

// A rollout that is taken back by removing its target must not be refused because of the guard.
describe("only warned of, because a rollout ends by such a change:", () => {
  const cases: readonly (readonly [text: string, warning: RegExp])[] = [
    [
      withGuards("{ rule: foot, target: v2 }"),
      /^a\.yaml:5:21 {2}spec\.guards\[0\]\.rule {2}found "foot", .*Did you mean "food"\?/,
    ],
    [withGuards("{ rule: food, target: v9x }"), /^a\.yaml:5:\d+ {2}spec\.guards\[0\]\.target .*one of: v1, v2, v3/],
    [withGuards("{ rule: food, target: v2, against: nobody }"), /spec\.guards\[0\]\.against .*guards nothing/],
    [
      withGuards("{ rule: food, target: v1 }", rewriteOf("name: food", "{ modelRewrite: v1 }")),
      /the only target of the rule food\/0/,
    ],
  ];
  for (const [text, warning] of cases) {
    test(String(warning), async () => {
      const result = await loadTexts([{ file: "a.yaml", text }], registry, []);
      assert.equal(result.problems, undefined);
      assert.deepEqual(guardSection.of(result.config!.features), []);
      assert.equal(result.warnings.length, 1);
      assert.match(formatProblem(result.warnings[0]!), warning);
    });
  }
});
