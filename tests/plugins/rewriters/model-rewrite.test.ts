import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import type { Rewriter, TargetDraw } from "../../../core/contract/rewriter.ts";
import { seededRandom } from "../../../core/contract/test-kit.ts";
import modelRewrite from "../../../plugins/rewriters/model-rewrite.ts";
import { makeHeaders } from "../../support/endpoints.ts";
import { createPlugin, issuesOf, makeHost } from "../../support/plugins.ts";

interface Asked {
  readonly model?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly served?: readonly string[];
  /** Targets that a replica may load. */
  readonly loadable?: readonly string[];
}

const question = ({ model = "food", headers = {}, served = ["v1", "v2", "v3"], loadable = [] }: Asked = {}) => ({
  model,
  headers: makeHeaders(headers),
  served: new Set(served),
  mayBeLoaded: (name: string) => loadable.includes(name),
});

const drawFrom = (rewriter: Rewriter, asked?: Asked) => rewriter.draw(question(asked));

/** How often each target is drawn in 20 requests. */
function draw20(rewriter: Rewriter, asked?: Asked): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (let round = 0; round < 20; round++) {
    const target = drawFrom(rewriter, asked)!.target;
    counts[target] = (counts[target] ?? 0) + 1;
  }
  return counts;
}

const target = (name: string, weight = 1) => ({ name, weight });
const split = { name: "split/0", models: ["food"], targets: [target("v1", 90), target("v2", 10)] };

const named = (draw: TargetDraw | undefined) => draw && { target: draw.target, rule: draw.rule };

describe("which rule", () => {
  const exact = { name: "exact/0", models: ["food", "drink"], targets: [target("v1")] };
  const generic = { name: "generic/0", models: [], targets: [target("v2")] };
  const later = { name: "later/0", models: ["food", "late"], targets: [target("v3")] };
  const cases: readonly [rules: readonly object[], model: string, drawn: object | undefined][] = [
    [[exact], "food", { target: "v1", rule: "exact/0" }],
    [[exact], "drink", { target: "v1", rule: "exact/0" }],
    [[exact], "other", undefined],
    [[], "food", undefined],
    [[exact, later], "food", { target: "v1", rule: "exact/0" }],
    [[exact, later], "late", { target: "v3", rule: "later/0" }],
    [[exact, generic], "other", { target: "v2", rule: "generic/0" }],
    [[exact, generic, later], "late", { target: "v2", rule: "generic/0" }],
    [[generic], "", undefined],
  ];
  for (const [rules, model, drawn] of cases) {
    it(`${rules.map((rule) => (rule as { name: string }).name).join(", ") || "none"}: ${JSON.stringify(model)}`, () => {
      assert.deepEqual(named(drawFrom(createPlugin(modelRewrite, { rules }), { model })), drawn);
    });
  }

  it("a drawn target is not rewritten again", () => {
    const chain = [
      { name: "a", models: ["food"], targets: [target("drink")] },
      { name: "b", models: ["drink"], targets: [target("v1")] },
    ];
    assert.deepEqual(named(drawFrom(createPlugin(modelRewrite, { rules: chain }))), { target: "drink", rule: "a" });
  });
});

test("client models are the names of all rules, once each", () => {
  const rules = [split, { ...split, models: ["food", "drink"] }, { ...split, models: [] }];
  assert.deepEqual(createPlugin(modelRewrite, { rules }).clientModels, ["food", "drink"]);
});

describe("shares over several routers, each with its own draws", () => {
  for (const shuffled of [[], ["split/0"]])
    it(`20 of 100 are exact within one for each router, ${shuffled.length === 0 ? "in turn" : "shuffled"}, however requests come`, () => {
      const rules = [{ ...split, targets: [target("v1", 80), target("v2", 20)] }];
      const random = seededRandom(9);
      for (const routers of [1, 2, 4, 8]) {
        for (const choose of [(n: number) => n % routers, () => Math.floor(random() * routers)]) {
          const all = Array.from({ length: routers }, () => createPlugin(modelRewrite, { rules, shuffled }));
          let count = 0;
          for (let n = 0; n < 100; n++) if (drawFrom(all[choose(n)]!)?.target === "v2") count += 1;
          assert.ok(Math.abs(count - 20) <= routers, `${routers} routers: ${count}`);
        }
      }
    });
});

describe("shares over 20 requests", () => {
  it("90/10", () => assert.deepEqual(draw20(createPlugin(modelRewrite, { rules: [split] })), { v1: 18, v2: 2 }));

  it("0/100", () => {
    const rules = [{ ...split, targets: [target("v1", 0), target("v2", 100)] }];
    assert.deepEqual(draw20(createPlugin(modelRewrite, { rules })), { v2: 20 });
  });

  it("each rule has its own count", () => {
    const rewriter = createPlugin(modelRewrite, { rules: [split, { ...split, name: "other/0", models: ["drink"] }] });
    const counts = { v1: 0, v2: 0 };
    for (let round = 0; round < 20; round++) {
      drawFrom(rewriter, { model: "drink" });
      counts[drawFrom(rewriter)!.target as "v1" | "v2"] += 1;
    }
    assert.deepEqual(counts, { v1: 18, v2: 2 });
  });
});

describe("a target that no endpoint serves", () => {
  const three = { ...split, targets: [target("v1", 50), target("v2", 30), target("v3", 20)] };
  const cases: readonly [onUnavailable: string, served: readonly string[], counts: object][] = [
    ["refuse", ["v1"], { v1: 10, v2: 6, v3: 4 }],
    ["redistribute", ["v1", "v2", "v3"], { v1: 10, v2: 6, v3: 4 }],
    ["redistribute", ["v2", "v3"], { v2: 12, v3: 8 }],
    ["redistribute", ["v3", "other"], { v3: 20 }],
    ["redistribute", [], { v1: 10, v2: 6, v3: 4 }],
  ];
  for (const [onUnavailable, served, counts] of cases) {
    it(`${onUnavailable}, served: ${served.join(", ") || "nothing"}`, () => {
      const rewriter = createPlugin(modelRewrite, { rules: [{ ...three, onUnavailable }] });
      assert.deepEqual(draw20(rewriter, { served }), counts);
    });
  }

  it("redistribute, one served and one that a replica may load: both", () => {
    const rewriter = createPlugin(modelRewrite, { rules: [{ ...three, onUnavailable: "redistribute" }] });
    assert.deepEqual(draw20(rewriter, { served: ["v3"], loadable: ["v2"] }), { v2: 12, v3: 8 });
  });

  it("a drained target does not come back because it is the only one served", () => {
    const rules = [{ ...split, targets: [target("v1", 0), target("v2", 5)], onUnavailable: "redistribute" }];
    assert.deepEqual(draw20(createPlugin(modelRewrite, { rules }), { served: ["v1"] }), { v2: 20 });
  });
});

describe("how a target was drawn", () => {
  const targets = [target("v1", 90), target("v2", 10), target("v3", 0)];
  const rows: readonly [name: string, more: object, asked: Asked, method: object][] = [
    ["by the shares", {}, {}, { by: "share", header: "", targets }],
    ["by a header", { stickyHeader: "x-user" }, { headers: { "x-user": "ada" } }, { by: "header", header: "x-user", targets }],
    ["without the header", { stickyHeader: "x-user" }, {}, { by: "share", header: "", targets }],
    [
      "among those that are served",
      { onUnavailable: "redistribute" },
      { served: ["v2"] },
      { by: "share", header: "", targets: [target("v2", 10)] },
    ],
  ];
  for (const [name, more, asked, method] of rows) {
    it(name, () => {
      const rewriter = createPlugin(modelRewrite, { rules: [{ ...split, targets, ...more }] });
      assert.deepEqual(drawFrom(rewriter, asked)?.method, method);
    });
  }
});

describe("a preview", () => {
  it("is the next draw, however often it is asked for", () => {
    const draws = new Map<string, number>();
    const host = makeHost({ keep: () => draws as never });
    const rewriter = createPlugin(modelRewrite, { rules: [split] }, host);
    for (let round = 0; round < 20; round++) {
      const before = JSON.stringify([...draws]);
      const previews = [1, 2, 3].map(() => rewriter.preview?.(question()));
      assert.equal(JSON.stringify([...draws]), before);
      const drawn = drawFrom(rewriter);
      for (const preview of previews) assert.deepEqual(preview, drawn);
    }
  });

  it("keeps the counts of rules that the config before had", () => {
    const draws = new Map([["gone/0", 7]]);
    const rewriter = createPlugin(modelRewrite, { rules: [split] }, makeHost({ keep: () => draws as never }));
    rewriter.preview?.(question());
    assert.deepEqual([...draws], [["gone/0", 7]]);
  });
});

describe("a sticky header", () => {
  const sticky = (weights: readonly [number, number]) =>
    createPlugin(modelRewrite, {
      rules: [{ ...split, stickyHeader: "X-User", targets: [target("v1", weights[0]), target("v2", weights[1])] }],
    });
  const targetOf = (rewriter: Rewriter, user: number) => drawFrom(rewriter, { headers: { "x-user": `user-${user}` } })!.target;
  const users = Array.from({ length: 1000 }, (_, user) => user);

  it("keeps a value on its target, in every router", () => {
    const [one, other] = [sticky([90, 10]), sticky([90, 10])];
    for (const user of users) assert.equal(targetOf(one, user), targetOf(other, user));
    for (const user of users) assert.equal(targetOf(one, user), targetOf(other, user));
  });

  it("keeps the shares over many values", () => {
    const rewriter = sticky([90, 10]);
    const toV2 = users.filter((user) => targetOf(rewriter, user) === "v2").length;
    assert.ok(Math.abs(toV2 - 100) < 30, `${toV2}`);
  });

  it("moves no value back when a share grows", () => {
    const [before, after] = [sticky([90, 10]), sticky([50, 50])];
    for (const user of users) if (targetOf(before, user) === "v2") assert.equal(targetOf(after, user), "v2");
  });

  it("uses the exact draw for requests without it, or with an empty one", () => {
    const rewriter = sticky([90, 10]);
    assert.deepEqual(draw20(rewriter), { v1: 18, v2: 2 });
    assert.deepEqual(draw20(rewriter, { headers: { "x-user": "" } }), { v1: 18, v2: 2 });
  });
});

describe("rules that make no sense are refused", () => {
  const wrong: readonly object[] = [
    {},
    { rules: [{ ...split, targets: [] }] },
    { rules: [{ ...split, targets: [target("v1", 0)] }] },
    { rules: [{ ...split, targets: [target("v1", 1.5)] }] },
    { rules: [{ ...split, targets: [target("v1", -1)] }] },
    { rules: [{ ...split, targets: [target("", 1)] }] },
    { rules: [{ ...split, onUnavailable: "wait" }] },
  ];
  for (const parameters of wrong) it(JSON.stringify(parameters), () => assert.ok(issuesOf(modelRewrite, parameters).length > 0));
});

describe("a config that follows another", () => {
  const keptBy = (kept: Map<string, number>) => makeHost({ keep: () => kept as never });

  for (const drawn of [0, 1, 7, 13]) {
    it(`after ${drawn} draws, its weights count from the next one and are exact within 20`, () => {
      const kept = new Map<string, number>();
      const before = createPlugin(modelRewrite, { rules: [split] }, keptBy(kept));
      for (let n = 0; n < drawn; n++) drawFrom(before);
      const weights = (v1: number, v2: number) => ({ rules: [{ ...split, targets: [target("v1", v1), target("v2", v2)] }] });
      assert.deepEqual(draw20(createPlugin(modelRewrite, weights(50, 50), keptBy(kept))), { v1: 10, v2: 10 });
      assert.deepEqual(draw20(createPlugin(modelRewrite, weights(0, 100), keptBy(kept))), { v2: 20 });
      assert.deepEqual(draw20(createPlugin(modelRewrite, weights(90, 10), keptBy(kept))), { v1: 18, v2: 2 });
    });
  }

  it("forgets the counts of rules that it does not have, once it draws and not before", () => {
    const kept = new Map([["gone/0", 5]]);
    const rewriter = createPlugin(modelRewrite, { rules: [split] }, keptBy(kept));
    assert.deepEqual([...kept], [["gone/0", 5]]);
    drawFrom(rewriter);
    assert.deepEqual([...kept], [["split/0", 1]]);
  });
});
