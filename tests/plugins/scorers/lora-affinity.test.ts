import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import type { AdapterFacts } from "../../../core/contract/load-view.ts";
import loraAffinity from "../../../plugins/scorers/lora-affinity.ts";
import { makeEndpoint, makeEndpoints, makeLoad, makeRequest } from "../../support/endpoints.ts";
import { createPlugin } from "../../support/plugins.ts";

const use = (running: readonly string[], waiting: readonly string[], max: number): AdapterFacts => ({
  use: { running: new Set(running), waiting: new Set(waiting), max },
});

const mixed = [use(["a1"], [], 5), use(["a2"], ["a1"], 5), use(["a2"], [], 2), use(["a3"], ["a1"], 2), use(["a4", "a5"], [], 2)];

describe("a target a1", () => {
  const cases: readonly [
    name: string,
    adapters: readonly (AdapterFacts | undefined)[],
    scores: readonly (number | null)[] | null,
  ][] = [
    ["runs", [use(["a1"], [], 5)], [1]],
    ["waits where there is no room", [use(["a2"], ["a1"], 2)], [0.6]],
    ["has no room", [use(["a2"], ["a3"], 2), use([], [], 0)], [0, 0]],
    ["on five replicas", mixed, [1, 0.8, 0.8, 0.6, 0]],
    ["on none", [], null],
    ["is in both lists, as in vLLM: it takes one place", [use(["a2"], ["a2"], 2)], [0.8]],
    ["nothing is known of one replica", [use(["a2"], [], 1), undefined], [0, null]],
    ["nothing is known at all", [undefined, { names: new Set(["a1"]) }], null],
  ];
  for (const [name, adapters, scores] of cases) {
    it(name, () => {
      const candidates = makeEndpoints(adapters.length);
      const load = makeLoad(adapters.length, { adapters });
      assert.deepEqual(createPlugin(loraAffinity).score(makeRequest({ target: "a1" }), candidates, load), scores);
    });
  }
});

test("no opinion on a base model, if a list distinguishes it from adapters", () => {
  const names = new Set(["a1"]);
  const load = makeLoad(2, {
    adapters: [
      { names, ...use([], [], 2) },
      { names, ...use(["a1"], [], 2) },
    ],
  });
  const candidates = [0, 1].map((slot) => makeEndpoint(slot, { models: ["base", "a1"] }));
  const scorer = createPlugin(loraAffinity);
  assert.equal(scorer.score(makeRequest({ target: "base" }), candidates, load), null);
  assert.equal(scorer.score(makeRequest({ target: "" }), candidates, load), null);
  assert.deepEqual(scorer.score(makeRequest({ target: "a1" }), candidates, load), [0.8, 1]);
});

describe("an adapter that this router sent there", () => {
  const send = (scorer: ReturnType<typeof make>, target: string, slot = 0) =>
    scorer.chosen?.(makeRequest({ target }), makeEndpoint(slot), makeLoad(1));
  const make = (maxLora = 1) => createPlugin(loraAffinity, { maxLora });
  const scoresOf = (scorer: ReturnType<typeof make>, target: string, adapters: readonly (AdapterFacts | undefined)[] = []) =>
    scorer.score(makeRequest({ target }), makeEndpoints(2), makeLoad(2, { adapters }));

  it("counts before any metrics are read, up to maxLora adapters", () => {
    const scorer = make(2);
    for (const target of ["a1", "a2", "a1", "a3"]) send(scorer, target);
    assert.deepEqual(scoresOf(scorer, "a1"), [1, null]);
    assert.deepEqual(scoresOf(scorer, "a3"), [1, null]);
    assert.equal(scoresOf(scorer, "a2"), null);
  });

  it("counts up to the number in the metrics", () => {
    const scorer = make();
    for (const target of ["a1", "a2", "a3"]) send(scorer, target);
    assert.deepEqual(scoresOf(scorer, "a1", [use(["a3"], [], 3), use(["a4"], [], 1)]), [1, 0]);
    assert.deepEqual(scoresOf(scorer, "a1", [use(["a3"], [], 2), use(["a4"], [], 1)]), [0.4, 0]);
  });

  it("takes room, also while no request uses it", () => {
    const scorer = make();
    for (const target of ["a1", "a2"]) send(scorer, target);
    const idle = use([], [], 2);
    assert.deepEqual(scoresOf(scorer, "a3", [idle, idle]), [0.4, 0.8]);
    assert.deepEqual(scoresOf(scorer, "a3", [use([], [], 3), use(["a4"], [], 2)]), [0.8, 0.8]);
    assert.deepEqual(scoresOf(scorer, "a3", [use(["a1"], [], 2), use(["a4", "a5"], [], 2)]), [0.4, 0]);
  });

  it("counts before metrics name one, the more the fewer were sent there", () => {
    const scorer = make();
    const listed = { names: new Set(["a1", "a2", "a3"]) };
    assert.equal(scoresOf(scorer, "a1", [listed, listed]), null);
    for (const target of ["a1", "a2"]) send(scorer, target);
    assert.deepEqual(scoresOf(scorer, "a2", [listed, listed]), [1, 0.8]);
    assert.deepEqual(scoresOf(scorer, "a1", [listed, listed]), [0.9, 0.8]);
    assert.deepEqual(scoresOf(scorer, "a3", [listed, listed]), [0.8 / 3, 0.8]);
    assert.deepEqual(scoresOf(scorer, "a3", [listed, use([], [], 2)]), [0.4, 0.8], "what another one says of itself");
  });

  it("does not count when the slot has another endpoint", () => {
    const scorer = make();
    send(scorer, "a1");
    const candidates = [makeEndpoint(0, { name: "another" })];
    assert.equal(scorer.score(makeRequest({ target: "a1" }), candidates, makeLoad(1)), null);
  });

  it("is remembered for a thousand adapters at most", () => {
    const scorer = make(1024);
    for (let i = 0; i <= 1024; i++) send(scorer, `a${i}`);
    assert.equal(scoresOf(scorer, "a0"), null);
    assert.deepEqual(scoresOf(scorer, "a1"), [1, null]);
  });
});
