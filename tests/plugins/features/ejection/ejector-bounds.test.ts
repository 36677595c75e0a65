import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../../core/contract/endpoint.ts";
import { makeEndpoint, makeEndpoints } from "../../../../core/contract/test-kit.ts";
import { Setup } from "./ejector-set-up.ts";

describe("how many may be out", () => {
  it("half of those that are up; beyond it all that are up are used, and the log says so", () => {
    const setup = new Setup();
    for (const index of [0, 1]) setup.fail(index);
    assert.deepEqual(
      [0, 1, 2, 3].map((index) => setup.isOut(index)),
      [true, true, false, false],
    );
    setup.fail(2);
    assert.equal(setup.ejector.isPanicking, true);
    assert.deepEqual(
      [0, 1, 2, 3].map((index) => setup.isOut(index)),
      [false, false, false, false],
    );
    assert.ok(setup.logged.some((line) => line.startsWith("More endpoints fail than may be ejected")));
    assert.equal(setup.standing(0).warmUp, 0.25, "those that fail get less than the others");
  });

  it("when one more fails, those that are out for a while are tried early, and it leaves once one of them is back", () => {
    const setup = new Setup();
    for (const index of [0, 1]) setup.fail(index);
    setup.wait(2_000);
    setup.fail(2);
    assert.equal(setup.ejector.isPanicking, false);
    assert.deepEqual(
      [0, 1].map((index) => setup.standing(index).isOnTrial),
      [true, true],
    );
    setup.succeed(0);
    setup.fail(2, 1);
    assert.equal(setup.isOut(2), true);
  });

  it("those that the probes took out do not count as up", () => {
    const setup = new Setup();
    setup.unhealthy.add("e3").add("e2");
    setup.fail(0);
    setup.fail(1);
    assert.deepEqual(
      [0, 1].map((index) => setup.isOut(index)),
      [false, false],
    );
    assert.equal(setup.ejector.isPanicking, true);
  });

  it("never the only one", () => {
    const setup = new Setup(makeEndpoints(1));
    setup.fail(0, 50);
    assert.equal(setup.isOut(0), false);
    assert.equal(setup.ejector.isPanicking, false);
  });

  it("never the last one that serves a model", () => {
    const pool = [makeEndpoint(0, { models: ["base", "v1"] }), makeEndpoint(1), makeEndpoint(2), makeEndpoint(3)];
    const setup = new Setup(pool);
    setup.fail(0, 50);
    assert.equal(setup.isOut(0), false);
  });

  describe("where some only process prompts for others", () => {
    const prompts = (index: number) => makeEndpoint(index, { labels: { role: "prefill" } });
    const pools: readonly (readonly [name: string, endpoints: readonly Endpoint[], isOut: boolean])[] = [
      ["never the last one that answers", [makeEndpoint(0), prompts(1), prompts(2), prompts(3)], false],
      ["one of two that answer", [makeEndpoint(0), makeEndpoint(1), prompts(2)], true],
      ["the last one of those", [prompts(0), makeEndpoint(1)], true],
    ];
    for (const [name, endpoints, isOut] of pools) {
      it(name, () => {
        const setup = new Setup(endpoints);
        setup.fail(0, 50);
        assert.equal(setup.isOut(0), isOut);
      });
    }
  });

  it("panic ends when one returns", () => {
    const setup = new Setup();
    for (const index of [0, 1, 2]) setup.fail(index);
    setup.wait(15_000);
    setup.succeed(0);
    assert.equal(setup.ejector.isPanicking, false);
  });
});

describe("an ejected endpoint that can't be done without", () => {
  const leaves: readonly (readonly [name: string, leave: (setup: Setup) => void])[] = [
    ["the only other one fails its probes", (setup) => setup.unhealthy.add("e1")],
    ["the only other one is removed", (setup) => setup.ejector.follow([setup.endpoints[0]!], setup.nowMs)],
    [
      "the only other one drains",
      (setup) => setup.ejector.follow([setup.endpoints[0]!, makeEndpoint(1, { intent: "drain" })], setup.nowMs),
    ],
    [
      "the only other one loses its model",
      (setup) => setup.ejector.follow([setup.endpoints[0]!, makeEndpoint(1, { models: ["other"] })], setup.nowMs),
    ],
  ];
  for (const [name, leave] of leaves) {
    it(`is used again when ${name}, and returns with its first success`, () => {
      const setup = new Setup(makeEndpoints(2));
      setup.fail(0);
      const beforeMs = setup.nowMs;
      assert.equal(setup.isOut(0), true);
      leave(setup);
      setup.wait(500);
      assert.equal(setup.isOut(0), false);
      assert.deepEqual(setup.logged, ["An ejected endpoint is used all the same: too few others are left"]);
      setup.succeed(0, 0, beforeMs - 1);
      assert.notEqual(setup.standing(0).ejection, undefined, "it was sent before the ejection");
      setup.succeed(0);
      assert.equal(setup.standing(0).ejection, undefined);
    });
  }

  it("is left alone again when another one has come back", () => {
    const setup = new Setup(makeEndpoints(2));
    setup.fail(0);
    setup.unhealthy.add("e1");
    setup.wait(500);
    setup.unhealthy.clear();
    setup.wait(500);
    assert.equal(setup.isOut(0), true);
  });

  it("stays out while others serve all that it does", () => {
    const setup = new Setup(makeEndpoints(4));
    setup.fail(0);
    setup.unhealthy.add("e1").add("e2");
    setup.wait(1_000);
    assert.equal(setup.isOut(0), true);
  });
});

describe("panic", () => {
  const panicking = () => {
    const setup = new Setup();
    for (const index of [0, 1, 2]) setup.fail(index);
    assert.equal(setup.ejector.isPanicking, true);
    return setup;
  };

  it("ends when all endpoints were restarted", () => {
    const setup = panicking();
    const restarted = setup.endpoints.map((endpoint) => ({ ...endpoint, generation: endpoint.generation + 1 }));
    setup.ejector.follow(restarted, setup.nowMs);
    setup.wait(500);
    assert.equal(setup.ejector.isPanicking, false);
  });

  it("ends when those that are ejected fail their probes too", () => {
    const setup = panicking();
    setup.unhealthy.add("e0").add("e1");
    setup.wait(500);
    assert.equal(setup.ejector.isPanicking, false);
  });
});
