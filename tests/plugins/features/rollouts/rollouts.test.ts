import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../../core/contract/endpoint.ts";
import { nameSet } from "../../../../core/contract/name-set.ts";
import type { Outcome } from "../../../../core/contract/outcome.ts";
import { makeEndpoint, makeEndpoints, makeRequest } from "../../../../core/contract/test-kit.ts";
import { makeAttempt, makeDecision, makeOutcome } from "../../../../core/test-kit/records.ts";
import type { GuardConfig } from "../../../../plugins/features/rollouts/guard-config.ts";
import { Rollouts, type StopTarget } from "../../../../plugins/features/rollouts/rollouts.ts";
import { FakeClock, settle } from "../../../support/fake-clock.ts";
import { makeMapping } from "../../../support/view.ts";
import { GUARD } from "./guard.ts";

const serving = (...models: string[]): readonly Endpoint[] =>
  makeEndpoints(1).map((endpoint) => ({ ...endpoint, models: nameSet(models) }));

/** Rollouts whose stops the test sees; `stop` is what a stop comes to. */
function setUp({ guards = [GUARD], endpoints = serving("v1", "v2"), stop = (async () => "") as StopTarget } = {}) {
  const clock = new FakeClock();
  const logged: string[] = [];
  const stops: string[] = [];
  const state = { endpoints };
  const note = (message: string) => void logged.push(message);
  const rollouts = new Rollouts({
    clock,
    log: { info: note, warn: note, error: note },
    stopTarget(asked) {
      stops.push(asked.reason);
      return stop(asked);
    },
  });
  const rewriter = (weights: Readonly<Record<string, number>>) => ({
    name: "food",
    type: "model-rewrite",
    plugin: { clientModels: [], draw: () => undefined, mappings: [makeMapping("food/0", weights)] },
  });
  const weigh = (v1: number, v2: number, next: readonly GuardConfig[] = guards) =>
    rollouts.follow([rewriter({ v1, v2 })], next, { endpoints: () => state.endpoints, meantFor: () => undefined });
  weigh(50, 50);
  const end = (target: string, overrides: Partial<Outcome> = {}, atMs = clock.now()) =>
    rollouts.ended(makeOutcome({ decision: makeDecision({ rule: "food/0", target, atMs }), ...overrides }));
  /** Pairs of requests of which v2's fail. */
  const failing = (pairs: number, overrides: Partial<Outcome> = {}) => {
    for (let n = 0; n < pairs; n++) {
      end("v1", overrides);
      end("v2", { status: 500, ...overrides });
    }
  };
  const guard = () => rollouts.guardOf("food/0", "v2");
  return { clock, rollouts, logged, stops, state, weigh, end, failing, guard };
}

describe("figures", () => {
  it("count what a request says of its target", () => {
    const { end, rollouts } = setUp();
    const error = (code: string) => ({ code, message: "" });
    end("v2", { firstByteMs: 100, finishReason: "stop", usage: { promptTokens: 100, outputTokens: 10, cachedTokens: 60 } });
    end("v2", { status: 400 });
    for (const status of [500, 429]) end("v2", { status });
    end("v2", { status: 503, error: error("target_unavailable") });
    end("v2", { ending: "broken", error: error("upstream_reset") });
    end("v2", { status: 0, ending: "client-left", firstByteMs: Number.NaN });
    end("v2", { status: 503, error: error("shutting_down") });
    const figures = rollouts.figuresOf("food/0", "v2");
    assert.deepEqual([figures?.requests, figures?.errors, figures?.unjudged], [8, 4, 2]);
    assert.equal(figures?.errorRate?.value, 4 / 6);
    assert.deepEqual([figures?.ttftMs?.count, figures?.cachedShare, figures?.finishReasons], [1, 0.6, { stop: 1 }]);
    assert.equal(rollouts.figuresOf("food/0", "v1")?.requests, 0);
    assert.equal(rollouts.figuresOf("food/0", "v9"), undefined);
    assert.equal(rollouts.figuresOf("none/0", "v2"), undefined);
  });

  it("count no refusal of the router as an error of the target, unless only the target is missing", () => {
    const { clock, end, rollouts } = setUp();
    const refused = (code: string, phase: "starting" | "ready", atMs = clock.now()) =>
      end("v2", {
        status: 503,
        error: { code, message: "" },
        attempts: [],
        decision: makeDecision({ rule: "food/0", target: "v2", atMs, endpoints: [makeEndpoint(0), makeEndpoint(1, { phase })] }),
      });
    for (const code of ["no_ready_endpoint", "saturated", "shutting_down", "overloaded", "plugin_fault"]) refused(code, "ready");
    refused("target_unavailable", "starting");
    assert.deepEqual(rollouts.figuresOf("food/0", "v2")?.errors, 0);
    refused("target_unavailable", "ready");
    refused("target_unavailable", "starting", clock.now() + 60_000);
    const figures = rollouts.figuresOf("food/0", "v2");
    assert.deepEqual([figures?.requests, figures?.errors, figures?.unjudged], [8, 2, 6]);
  });

  it("count a response that lacks something as an error, and its times not", () => {
    const { end, rollouts } = setUp();
    end("v2", { attempts: [makeAttempt("e1", "malformed")] });
    const figures = rollouts.figuresOf("food/0", "v2");
    assert.deepEqual([figures?.errors, figures?.ttftMs], [1, null]);
  });

  it("count an error that is said inside of a 200 as one of its status, and its times not", () => {
    const { end, rollouts } = setUp();
    end("v2", { attempts: [makeAttempt("e1", 400)] });
    end("v2", { attempts: [makeAttempt("e1", 429)] });
    const figures = rollouts.figuresOf("food/0", "v2");
    assert.deepEqual([figures?.requests, figures?.errors, figures?.ttftMs], [2, 1, null]);
  });

  it("have tokens per second of streams, whoever counted the tokens", () => {
    const { end, rollouts } = setUp();
    const times = { receivedMs: 0, admittedMs: 0, decidedMs: 0, dispatchedMs: 0, firstByteMs: 100, endMs: 1100 };
    end("v2", { request: makeRequest({ isStream: true }), times, outputTokens: 51 });
    end("v2", { request: makeRequest({ isStream: false }), times, outputTokens: 51 });
    const speed = rollouts.figuresOf("food/0", "v2")?.tokensPerSecond;
    assert.deepEqual([speed?.count, Math.round(speed?.mean.value ?? 0)], [1, 50]);
  });

  it("outlive another config, and begin anew with other targets or when one returns", () => {
    const { end, weigh, rollouts } = setUp();
    end("v1");
    weigh(90, 10);
    assert.equal(rollouts.figuresOf("food/0", "v1")?.requests, 1);
    weigh(100, 0);
    assert.equal(rollouts.figuresOf("food/0", "v1")?.requests, 1);
    weigh(90, 10);
    assert.equal(rollouts.figuresOf("food/0", "v1")?.requests, 0);
    rollouts.follow([], []);
    assert.equal(rollouts.figuresOf("food/0", "v1"), undefined);
  });

  it("keep at most 16 reasons, made printable", () => {
    const { end, rollouts } = setUp();
    for (let n = 0; n < 100; n++) end("v1", { finishReason: `\u001b${n}${"x".repeat(1000)}` });
    const reasons = rollouts.figuresOf("food/0", "v1")?.finishReasons ?? {};
    assert.deepEqual([Object.keys(reasons).length, reasons["other"]], [16, 85]);
    assert.ok(Object.keys(reasons).every((reason) => reason.length <= 64 && !reason.includes("\u001b")));
  });
});

describe("a guard", () => {
  it("stops its target once, and says why", async () => {
    const { failing, stops, logged, guard, weigh } = setUp();
    assert.equal(guard()?.state, "watching");
    failing(40);
    await settle();
    assert.equal(stops.length, 1);
    assert.match(
      stops[0]!,
      /^v2 fails 100 % \(.*\), v1 0 % .*: worse by more than 2 points at confidence 95 %, after 20 and 20 requests\.$/,
    );
    assert.deepEqual(logged, ["A guard stopped a target: its weight is 0 now"]);
    weigh(50, 0);
    assert.deepEqual([guard()?.state, guard()?.text, guard()?.stops], ["stopped", stops[0], 1]);
    failing(40);
    assert.equal(stops.length, 1);
  });

  it("begins anew when somebody gives the target a share again", async () => {
    const { failing, stops, guard, weigh, logged } = setUp();
    failing(20);
    await settle();
    weigh(50, 0);
    weigh(50, 50);
    assert.equal(logged.at(-1), "A target that a guard stopped has a share again: the guard begins anew");
    assert.deepEqual([guard()?.state, guard()?.requests, guard()?.tests[0]?.evidence, guard()?.stops], ["watching", 0, 1, 1]);
    failing(20);
    await settle();
    assert.deepEqual([stops.length, guard()?.stops], [2, 2]);
  });

  it("does not stop a target while no ready replica serves the other one, and does it as soon as one is there", async () => {
    const { failing, stops, state, guard, clock, logged } = setUp({ endpoints: serving("v2") });
    failing(20);
    await settle();
    assert.deepEqual([stops.length, guard()?.state], [0, "blocked"]);
    assert.match(guard()?.text ?? "", /It is not stopped: no ready replica serves v1\.$/);
    failing(5);
    assert.deepEqual(logged, ["A guard could not stop a target; it tries again"], "not tried again with each request");
    state.endpoints = serving("v1", "v2");
    await clock.advance(10_000);
    failing(1);
    await settle();
    assert.deepEqual([stops.length, guard()?.state], [1, "stopped"]);
  });

  for (const [listed, where, stopped] of [
    ["v1", "p", 0],
    ["v1@a", "p", 1],
    ["v1@a", "q", 0],
  ] as const)
    it(`knows the other one by its name in its pool: v1@a in p, where replicas in ${where} list ${listed}`, async () => {
      const { rollouts, end, stops } = setUp();
      const targets = [
        { name: "v1@a", pool: "p", weight: 50 },
        { name: "v2", weight: 50 },
      ];
      const plugin = { clientModels: [], draw: () => undefined, mappings: [makeMapping("food/0", {}, { targets })] };
      const against = { ...GUARD, against: "v1@a@p" };
      rollouts.follow([{ name: "food", type: "model-rewrite", plugin }], [against], {
        endpoints: (pool) => (pool === where ? serving(listed) : []),
        meantFor: () => undefined,
      });
      for (let n = 0; n < 20; n++) {
        end("v1@a", { pool: "p" });
        end("v2", { status: 500 });
      }
      await settle();
      assert.equal(stops.length, stopped);
    });

  it("does not stop a target that fails no more than the other one, and forgets that it would have", async () => {
    const { end, failing, stops, state, guard } = setUp({ endpoints: serving("v2") });
    failing(20);
    await settle();
    for (let n = 0; n < 200; n++) {
      end("v1", { status: 500 });
      end("v2");
    }
    assert.equal(guard()?.state, "watching");
    state.endpoints = serving("v1", "v2");
    for (let n = 0; n < 1000; n++) {
      end("v1", { status: n % 10 === 0 ? 500 : 200 });
      end("v2", { status: n % 10 === 5 ? 500 : 200 });
    }
    await settle();
    assert.deepEqual(stops, []);
  });

  it("tries again after a change that was refused", async () => {
    let answer = "the router is stopping";
    const { failing, stops, guard, clock } = setUp({ stop: async () => answer });
    failing(30);
    await settle();
    assert.deepEqual([stops.length, guard()?.state], [1, "blocked"]);
    answer = "";
    await clock.advance(10_000);
    failing(1);
    await settle();
    assert.deepEqual([stops.length, guard()?.state], [2, "stopped"]);
  });

  it("waits for its number of requests, and for both targets to have a share", async () => {
    const { failing, stops, guard, weigh } = setUp({ guards: [{ ...GUARD, minRequests: 100 }] });
    failing(99);
    await settle();
    assert.deepEqual(stops, []);
    weigh(0, 50);
    assert.deepEqual([guard()?.state, guard()?.text], ["idle", "It waits until v1 has a weight above 0."]);
    failing(10);
    await settle();
    assert.deepEqual(stops, []);
  });

  // The first to end of those that began with a new share are the shortest: beside those of a target at rest they would look odd.
  it("compares only requests that were decided with the present weights", async () => {
    const { end, clock, weigh, guard } = setUp();
    const before = clock.now();
    await clock.advance(1_000);
    weigh(90, 10);
    for (let n = 0; n < 100; n++) {
      end("v1", {}, before);
      end("v2", { status: 500 }, before);
    }
    assert.equal(guard()?.requests, 0);
    end("v2");
    assert.equal(guard()?.requests, 1);
  });

  it("stops no target for what the router refused, and judges a session by its first request that says something", async () => {
    const sticky = { ...GUARD, stickyHeader: "x-user" };
    const { end, guard, stops } = setUp({ guards: [sticky] });
    const of = (user: number) => ({ request: makeRequest({ headers: { get: () => `u${user}` } }) });
    const refused = { status: 503, error: { code: "no_ready_endpoint", message: "" }, attempts: [], firstByteMs: Number.NaN };
    for (let user = 0; user < 200; user++) end("v2", { ...of(user), ...refused });
    for (let user = 0; user < 200; user++) end("v1", of(1_000 + user));
    await settle();
    assert.deepEqual([stops, guard()?.requests], [[], 0]);
    for (let user = 0; user < 200; user++) {
      end("v1", of(2_000 + user));
      end("v2", { ...of(user), status: 500 });
    }
    await settle();
    assert.equal(stops.length, 1);
  });

  it("counts a session once where the rule is sticky", async () => {
    const { failing, end, guard } = setUp({ guards: [{ ...GUARD, stickyHeader: "x-user" }] });
    const from = (user: string) => ({
      request: makeRequest({ headers: { get: (name) => (name === "x-user" ? user : undefined) } }),
    });
    failing(100, from("same"));
    assert.equal(guard()?.requests, 0, "its first request went to v1");
    for (let n = 0; n < 1500; n++) end("v2", from(`user ${n}`));
    assert.equal(guard()?.requests, 1500);
  });

  it("divides its probability of an error between its tests", () => {
    const needed = (worseBy: GuardConfig["worseBy"]) =>
      setUp({ guards: [{ ...GUARD, worseBy }] })
        .guard()
        ?.tests.map((test) => `${test.what} ${Math.round(test.needed)}`);
    assert.deepEqual(needed({ errorRate: 0, ttft: undefined }), ["errorRate 20"]);
    assert.deepEqual(needed({ errorRate: 0.1, ttft: 0.5 }), ["errorRate 40", "ttft 40"]);
  });

  it("takes the wait of a client that left for the time to its first byte", async () => {
    const { end, stops } = setUp({ guards: [{ ...GUARD, worseBy: { errorRate: undefined, ttft: 0.5 }, minRequests: 1 }] });
    const times = { receivedMs: 10, admittedMs: 10, decidedMs: 10, dispatchedMs: 10, firstByteMs: Number.NaN, endMs: 60_010 };
    for (let n = 0; n < 40; n++) {
      end("v1", { firstByteMs: 100 });
      end("v2", { status: 0, ending: "client-left", firstByteMs: Number.NaN, times });
      end("v2", { firstByteMs: 60_000 });
    }
    await settle();
    assert.match(stops[0] ?? "", /^The first byte of v2 typically takes .* ms, that of v1 .* ms: slower by more than 50 %/);
  });

  it("keeps what it knows over a config in which it is the same, and begins anew where it is not", () => {
    const { failing, guard, weigh } = setUp({ guards: [{ ...GUARD, minRequests: 1000 }] });
    failing(10);
    weigh(90, 10, [{ ...GUARD, minRequests: 1000 }]);
    assert.equal(guard()?.requests, 10);
    weigh(90, 10, [{ ...GUARD, minRequests: 1001 }]);
    assert.equal(guard()?.requests, 0);
    weigh(90, 10, []);
    assert.equal(guard(), undefined);
  });
});
