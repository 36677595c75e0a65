import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PROBE_DEFAULTS } from "../../../../core/settings/tables.ts";
import { GetError } from "../../../../core/wire/get-error.ts";
import { DOWN, inService, LIST, type Result, setup, target, UP } from "./prober-set-up.ts";

test("it tells when a replica was probed, and when it will be", async () => {
  const { clock, prober } = await inService();
  assert.equal(prober.of(target("b")), undefined);
  assert.equal(prober.of(target("a"))?.checks.lastMs, 0);
  const next = prober.of(target("a"))?.checks.nextMs ?? 0;
  assert.ok(next > 0);
  await clock.advance(next);
  assert.equal(prober.of(target("a"))?.checks.lastMs, next);
  prober.stop();
});

describe("a probe that failed while the process stood still", () => {
  const strict = { ...PROBE_DEFAULTS, readiness: { ...PROBE_DEFAULTS.readiness, failureThreshold: 1 } };
  /** The next readiness probe fails after this time, in which the process does not run; what comes after it is `next`. */
  async function failedAfter(stillMs: number, next: Result) {
    let answer: Result = LIST;
    let asked = 0;
    const world = await inService({
      probes: strict,
      get: async (_target, path) => {
        if (path !== "/v1/models") return { status: 200, body: "" };
        asked += 1;
        if (asked === 2) {
          world.clock.standStill(stillMs);
          throw new GetError("reset", "the replica did not wait");
        }
        if (answer === "refused") throw new GetError(answer, "nobody listens");
        return { status: 200, body: LIST };
      },
    });
    answer = next;
    await world.clock.advance(strict.readiness.periodMs);
    world.prober.stop();
    return { changes: world.changes, asked };
  }

  test("says nothing: it is asked once more, at once", async () => {
    assert.deepEqual(await failedAfter(60_000, LIST), { changes: ["a ready"], asked: 3 });
  });
  test("and fails again, says what any failure says", async () => {
    assert.deepEqual((await failedAfter(60_000, "refused")).changes, ["a ready", "a not-ready"]);
  });
  test("one that failed in its time counts", async () => {
    assert.deepEqual((await failedAfter(0, LIST)).changes.slice(0, 2), ["a ready", "a not-ready"]);
  });
});

describe("coming into service", () => {
  test("a running replica is ready after the first round, which fetches each path once", async () => {
    const { paths, health, changes, prober } = await inService();
    assert.deepEqual(paths(0), ["/v1/models", "/health"]);
    assert.deepEqual(health.get("a")?.models, ["base"]);
    assert.deepEqual(changes, ["a ready"], "one change, not one per probe");
    prober.stop();
  });

  const loading: readonly (readonly [string, Readonly<Record<string, Result>>])[] = [
    ["refused", DOWN],
    ["a name that no host has yet", { "/v1/models": "no such host", "/health": "no such host" }],
    ["503 on the model list", { "/v1/models": 503, "/health": 200 }],
    ["503 on the liveness path", { "/v1/models": LIST, "/health": 503 }],
    ["another error", { "/v1/models": 401, "/health": 200 }],
    ["a body that is no model list", { "/v1/models": "{", "/health": 200 }],
    ["a redirect", { "/v1/models": 302, "/health": 200 }],
  ];
  for (const [name, results] of loading) {
    test(`${name}: starting, and gets requests within two seconds of being up`, async () => {
      const world = setup();
      world.results.set("a", results);
      world.prober.watch([target("a")]);
      await world.clock.advance(90_000);
      assert.equal(world.phase("a"), "starting");
      world.results.set("a", UP);
      await world.clock.advance(2_000);
      assert.equal(world.phase("a"), "ready");
      world.prober.stop();
    });
  }

  test("the first rounds follow each other quickly", async () => {
    const { results, calls, clock, prober } = setup();
    results.set("a", DOWN);
    prober.watch([target("a")]);
    await clock.advance(6_000);
    assert.deepEqual(
      calls.map((call) => call.atMs),
      [0, 250, 750, 1_750, 3_750, 5_750],
    );
    prober.stop();
  });

  test("a startup that takes too long becomes not-ready, is still probed, and may succeed later", async () => {
    const startup = { ...PROBE_DEFAULTS.startup, periodMs: 3_000, failureThreshold: 5 };
    const { results, clock, prober, phase, calls } = setup({ probes: { ...PROBE_DEFAULTS, startup } });
    results.set("a", DOWN);
    prober.watch([target("a")]);
    await clock.advance(15_000 + 5 * 3_000 - 2_000);
    assert.equal(phase("a"), "starting");
    await clock.advance(4_000);
    assert.equal(phase("a"), "not-ready");
    const before = calls.length;
    await clock.advance(30_000);
    assert.equal(calls.length - before, 10);
    results.set("a", UP);
    await clock.advance(3_000);
    assert.equal(phase("a"), "ready");
    prober.stop();
  });

  test("a liveness path that hangs does not keep it out", async () => {
    const { results, clock, prober, phase } = setup();
    results.set("a", { "/v1/models": LIST, "/health": "timeout" });
    prober.watch([target("a")]);
    await clock.advance(1_000);
    assert.equal(phase("a"), "ready");
    prober.stop();
  });

  test("a separate startup path is probed first, the readiness path right after it", async () => {
    const probes = { ...PROBE_DEFAULTS, startup: { ...PROBE_DEFAULTS.startup, path: "/up" } };
    const world = setup({ probes });
    world.results.set("a", { ...UP, "/up": 503 });
    world.prober.watch([target("a")]);
    await world.clock.advance(0);
    assert.deepEqual(world.paths(0), ["/up"]);
    world.results.set("a", { ...UP, "/up": 200 });
    await world.clock.advance(250);
    assert.deepEqual(world.paths(1), ["/up", "/health", "/v1/models", "/health"]);
    assert.equal(world.phase("a"), "ready");
    world.prober.stop();
  });
});

describe("going out of service", () => {
  test("readiness: after three failures in a row", async () => {
    const { results, clock, prober, phase } = await inService();
    results.set("a", { ...UP, "/v1/models": 503 });
    await clock.advance(10_000);
    assert.equal(phase("a"), "ready");
    await clock.advance(5_000);
    assert.equal(phase("a"), "not-ready");
    results.set("a", UP);
    await clock.advance(250);
    assert.equal(phase("a"), "ready");
    prober.stop();
  });

  test("readiness: a response after the timeout is a failure", async () => {
    const { results, clock, prober, phase } = await inService();
    results.set("a", { ...UP, "/v1/models": "timeout" });
    await clock.advance(5_000 + 2 * 7_000 + 2_000);
    assert.equal(phase("a"), "not-ready");
    prober.stop();
  });

  test("liveness: after three failures in a row, and only liveness brings it back", async () => {
    const { results, clock, prober, phase, health } = await inService();
    results.set("a", { ...UP, "/health": 500 });
    await clock.advance(29_000);
    assert.equal(phase("a"), "ready");
    await clock.advance(1_000);
    assert.equal(phase("a"), "not-ready");
    await clock.advance(60_000);
    assert.equal(phase("a"), "not-ready");
    assert.equal(health.get("a")?.livenessLosses, 1);
    results.set("a", UP);
    await clock.advance(5_000);
    assert.equal(phase("a"), "ready");
    prober.stop();
  });

  test("liveness lost: its probe has its full timeout to bring the replica back", async () => {
    const { results, clock, prober, phase, calls } = await inService();
    results.set("a", { ...UP, "/health": 500 });
    await clock.advance(31_000);
    assert.equal(phase("a"), "not-ready");
    assert.equal(calls.findLast((call) => call.path === "/health")?.timeoutMs, 5_000);
    prober.stop();
  });

  test("a routed request that could not connect: at once; the next success restores", async () => {
    const { clock, prober, phase, changes, health } = await inService();
    prober.of(target("a"))?.connectFailed();
    assert.equal(phase("a"), "not-ready");
    prober.of(target("a"))?.connectFailed();
    await clock.advance(250);
    assert.equal(phase("a"), "ready");
    assert.deepEqual(changes, ["a ready", "a not-ready", "a ready"]);
    assert.equal(health.get("a")?.generation, 1);
    prober.stop();
  });

  test("a doubt: probed at once, and in service all the while", async () => {
    const { clock, prober, phase, changes, health, calls } = await inService();
    const before = calls.length;
    prober.of(target("a"))?.doubted();
    await clock.advance(0);
    assert.deepEqual([phase("a"), changes, health.get("a")?.generation], ["ready", ["a ready"], 0]);
    assert.equal(calls.length, before + 1);
    prober.stop();
  });

  test("a doubt, and a probe that can't connect: out at once, though one failed probe is none", async () => {
    const { results, clock, prober, phase } = await inService();
    results.set("a", DOWN);
    prober.of(target("a"))?.doubted();
    await clock.advance(0);
    assert.equal(phase("a"), "not-ready");
    results.set("a", UP);
    await clock.advance(1_000);
    assert.equal(phase("a"), "ready");
    prober.stop();
  });

  test("a doubt, and a probe that brings an error: it counts as any other probe", async () => {
    const { results, clock, prober, phase } = await inService();
    results.set("a", { ...UP, "/v1/models": 500 });
    prober.of(target("a"))?.doubted();
    await clock.advance(0);
    assert.equal(phase("a"), "ready");
    prober.stop();
  });

  test("a thousand doubts in a second: one more probe at once, and one when the second is over", async () => {
    const { clock, prober, calls } = await inService();
    const before = calls.length;
    for (let i = 0; i < 1_000; i++) {
      prober.of(target("a"))?.doubted();
      await clock.advance(1);
    }
    assert.deepEqual(
      calls.slice(before).map(({ path, atMs }) => [path, atMs]),
      [
        ["/v1/models", 0],
        ["/v1/models", 1_000],
      ],
    );
    prober.stop();
  });

  test("a failed connect to another address of the same name is ignored", async () => {
    const { prober, phase } = await inService();
    prober.of(target("a", 0, "http://elsewhere:8000"))?.connectFailed();
    prober.of(target("unknown"))?.connectFailed();
    assert.equal(phase("a"), "ready");
    prober.stop();
  });

  test("a dead replica is probed again soon, then once in each readiness period", async () => {
    const { results, clock, prober, calls } = await inService();
    results.set("a", DOWN);
    prober.of(target("a"))?.connectFailed();
    await clock.advance(20_000);
    const moments = calls.filter((call) => call.atMs > 0).map((call) => call.atMs);
    assert.deepEqual(moments, [250, 500, 1_000, 2_000, 4_000, 8_000, 13_000, 18_000]);
    prober.stop();
  });

  test("back with other models: another generation", async () => {
    const { results, clock, prober, health } = await inService();
    results.set("a", { ...UP, "/v1/models": "timeout" });
    await clock.advance(30_000);
    results.set("a", { ...UP, "/v1/models": JSON.stringify(["other"]) });
    await clock.advance(5_000);
    assert.deepEqual(health.get("a")?.models, ["other"]);
    assert.equal(health.get("a")?.generation, 1);
    prober.stop();
  });
});
