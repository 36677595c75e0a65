import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RouterError } from "../../../../core/contract/errors.ts";
import { nameSet } from "../../../../core/contract/name-set.ts";
import { makeEndpoints, makeHeaders } from "../../../../core/contract/test-kit.ts";
import { DrainRate } from "../../../../plugins/features/admission/drain-rate.ts";
import { ModelTargets, serves } from "../../../../plugins/features/admission/model-targets.ts";
import { lineFull } from "../../../../plugins/features/admission/refusals.ts";
import { standingOf } from "../../../../plugins/features/admission/standing.ts";
import { MemoryParts } from "../../../support/memory-parts.ts";
import { makeMapping } from "../../../support/view.ts";

describe("the drain rate", () => {
  it("says when so many requests will have gone on: at least a second, at most a minute", () => {
    const rate = new DrainRate();
    assert.equal(rate.secondsFor(5, 0), 60);
    for (let ms = 0; ms < 5_000; ms += 100) rate.wentOn(ms);
    assert.equal(rate.secondsFor(1, 5_000), 1);
    assert.equal(rate.secondsFor(100, 5_000), 10);
    assert.equal(rate.secondsFor(100_000, 5_000), 60);
    assert.equal(rate.perS(60_000), 0);
  });

  it("is what refusals say", () => {
    const error: RouterError = lineFull(7);
    assert.equal(error.retryAfterS, 7);
    assert.equal(error.status, 429);
  });
});

describe("who a request belongs to", () => {
  const settings = {
    ...{ concurrency: 1, tokens: 0, maxRequests: 1, maxBytes: 1, maxWaitMs: 1, waitsForReplicas: false },
    priorityHeaders: ["x-a", "x-b"],
    tenantHeaders: ["x-tenant"],
    modelPriorities: { gold: 5 },
    enginePriority: "off" as const,
    overridesPriority: false,
    objectives: new Map([["urgent", 9]]),
  };
  const of = (headers: Readonly<Record<string, string>>, model = "m") =>
    standingOf(undefined, model, makeHeaders(headers), settings);

  it("is in the first header that is there, then in its objective, then in its model", () => {
    assert.equal(of({ "x-b": "3", "x-llm-d-inference-objective": "urgent" }, "gold").priority, 3);
    assert.equal(of({ "x-llm-d-inference-objective": "urgent" }, "gold").priority, 9);
    assert.equal(of({ "x-gateway-inference-objective": "unknown" }, "gold").priority, 5);
    assert.equal(of({}, "constructor").priority, 0);
  });

  it("is no text that is not a number, and no endless name", () => {
    for (const text of ["high", "1.5", "1e3", "", "99999999999", "--1"]) assert.equal(of({ "x-a": text }).priority, 0, text);
    assert.equal(of({ "x-a": "-9999999999" }).priority, -(2 ** 31));
    assert.equal(of({ "x-tenant": "t".repeat(5_000) }).tenant.length, 128);
  });
});

describe("the targets of a model", () => {
  const mappings = [
    makeMapping("a/0", { v1: 1, v2: 0 }, { models: ["food"] }),
    makeMapping("b/0", { base: 1 }, { models: [] }),
    makeMapping("c/0", { late: 1 }, { models: ["late"] }),
  ];
  const rewriter = { clientModels: [], mappings, draw: () => undefined };
  const { config } = new MemoryParts();
  const targets = new ModelTargets({
    ...config,
    rewriters: [{ name: "r", type: "r", plugin: rewriter }],
    targets: nameSet(["v1", "v2", "base"]),
    settings: { ...config.settings, unlisted: "targets" },
  });

  it("are those that its rule may draw: the first that matches", () => {
    assert.deepEqual(targets.of("food"), ["v1"]);
    assert.deepEqual(targets.of("anything"), ["base"]);
    assert.deepEqual(targets.of("late"), ["base"]);
    assert.equal(targets.of(""), undefined);
    assert.ok(targets.mayBeLoaded("food"));
  });

  it("say which endpoint serves it", () => {
    const [endpoint] = makeEndpoints(1);
    assert.ok(serves(endpoint!, "anything", targets.of("anything")));
    assert.ok(!serves(endpoint!, "food", targets.of("food")));
    assert.ok(serves(endpoint!, "", undefined));
  });
});
