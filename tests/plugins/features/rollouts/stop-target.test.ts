import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { guardSection } from "../../../../plugins/features/rollouts/guard-config.ts";
import { stopThroughConfig } from "../../../../plugins/features/rollouts/stop-target.ts";
import { makeRunning } from "../../../support/admin.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const rewriteOf = (targets: string) => `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food }
spec:
  poolRef: { name: default }
  rules:
    - { matches: [ { model: { value: other } } ], targets: [ { modelRewrite: v2, weight: 5 } ] }
    - { matches: [ { model: { value: food } } ], targets: [ ${targets} ] }
`;

/** A running config with a guard of v2 in the second rule, and what stops it. */
async function setUp(targets: string) {
  const clock = new FakeClock();
  const running = await makeRunning(
    rewriteOf(targets).replace(
      "metadata: { name: food }",
      'metadata: { name: food, annotations: { "signalbox/guard": "target=v2 rule=1" } }',
    ),
    clock,
  );
  const [guard] = guardSection.of(running.loaded.config.features);
  assert.ok(guard !== undefined);
  const stop = () => stopThroughConfig(() => running, clock)({ guard, reason: "v2 fails." });
  const weights = () =>
    running.loaded.config.rewrites.map(({ targets: all }) => all.map(({ name, weight }) => `${name} ${weight}`).join(", "));
  return { running, guard, stop, weights, clock };
}

describe("a stop", () => {
  const cases: readonly (readonly [name: string, targets: string, after: string])[] = [
    ["sets the target's weight to 0", "{ modelRewrite: v1, weight: 90 }, { modelRewrite: v2, weight: 10 }", "v1 90, v2 0"],
    [
      "gives targets without weights equal ones",
      "{ modelRewrite: v1 }, { modelRewrite: v2 }, { modelRewrite: v3 }",
      "v1 1, v2 0, v3 1",
    ],
  ];
  for (const [name, targets, after] of cases) {
    it(`${name}, in its own rule only`, async () => {
      const { stop, weights, running, clock } = await setUp(targets);
      assert.equal(await stop(), "");
      assert.deepEqual(weights(), ["v2 5", after]);
      const [change] = running.overlay.rewrites;
      assert.deepEqual(
        [change?.by, change?.reason, change?.sinceMs, change?.untilMs],
        ["guard food/1 v2", "v2 fails.", clock.wall(), undefined],
      );
      assert.deepEqual(running.lastReload?.cause, "guard");
    });
  }

  it("is not possible where nothing can change the config", async () => {
    const { guard, clock } = await setUp("{ modelRewrite: v1, weight: 90 }, { modelRewrite: v2, weight: 10 }");
    assert.match(await stopThroughConfig(() => undefined, clock)({ guard, reason: "" }), /^nothing here can change/);
  });

  it("is not possible where no other target has a weight", async () => {
    const { stop, weights } = await setUp("{ modelRewrite: v1, weight: 0 }, { modelRewrite: v2, weight: 10 }");
    assert.equal(await stop(), "no other target of the rule has a weight");
    assert.deepEqual(weights(), ["v2 5", "v1 0, v2 10"]);
  });

  it("is not possible once the rule is another one", async () => {
    const { stop, running } = await setUp("{ modelRewrite: v1 }, { modelRewrite: v2 }");
    const deleted = { namespace: "default", name: "food", document: undefined, by: "me", sinceMs: 0, untilMs: undefined };
    await running.change(() => ({ rewrites: [deleted] }), "api");
    assert.equal(await stop(), "its rule has changed meanwhile");
    assert.deepEqual(running.overlay.rewrites, [deleted]);
  });

  it("takes over what an operator changed before, and goes with what the file says", async () => {
    const { stop, weights, running } = await setUp("{ modelRewrite: v1, weight: 90 }, { modelRewrite: v2, weight: 10 }");
    const document = {
      apiVersion: "llm-d.ai/v1alpha2",
      kind: "InferenceModelRewrite",
      metadata: { name: "food", annotations: { "signalbox/guard": "target=v2 rule=1" } },
      spec: {
        poolRef: { name: "default" },
        rules: [
          { matches: [{ model: { value: "other" } }], targets: [{ modelRewrite: "v2", weight: 5 }] },
          {
            matches: [{ model: { value: "food" } }],
            targets: [
              { modelRewrite: "v1", weight: 50 },
              { modelRewrite: "v2", weight: 50 },
            ],
          },
        ],
      },
    };
    await running.change(
      () => ({ rewrites: [{ namespace: "default", name: "food", document, by: "me", sinceMs: 0, untilMs: 9e15 }] }),
      "api",
    );
    assert.equal(await stop(), "");
    assert.deepEqual(weights(), ["v2 5", "v1 50, v2 0"]);
    assert.equal(running.overlay.rewrites.length, 1);
    assert.equal(running.overlay.rewrites[0]?.untilMs, undefined);
  });
});
