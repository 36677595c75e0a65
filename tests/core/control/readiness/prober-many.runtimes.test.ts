import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Log, silentLog } from "../../../../core/contract/log.ts";
import { PROBE_DEFAULTS } from "../../../../core/settings/tables.ts";
import { DOWN, inService, metrics, modelList, type Result, setup, target, UP } from "./prober-set-up.ts";

describe("many replicas, and their list", () => {
  test("probes of one path never run at the same time, however slow it is", async () => {
    const world = setup({ sources: [modelList, metrics] });
    const slow: Readonly<Record<string, Result>> = { "/v1/models": "timeout", "/health": "timeout", "/metrics": "timeout" };
    world.results.set("a", { ...UP, "/metrics": "timeout" });
    world.prober.watch([target("a")]);
    await world.clock.advance(20_000);
    world.results.set("a", slow);
    for (let i = 0; i < 20; i++) {
      world.prober.of(target("a"))?.connectFailed();
      await world.clock.advance(500);
    }
    assert.equal(world.mostOpen(), 1);
    world.prober.stop();
  });

  test("a hundred idle replicas: two probes each, no change to report", async () => {
    const { results, calls, clock, changes, prober } = setup();
    const targets = Array.from({ length: 100 }, (_, slot) => target(`r${slot}`, slot));
    for (const { name } of targets) results.set(name, UP);
    prober.watch(targets);
    await clock.advance(0);
    assert.equal(changes.length, 32, "the first slice");
    await clock.advance(15);
    assert.equal(changes.length, 100);
    assert.equal(clock.pending, 200, "two timers each");
    const before = calls.length;
    await clock.advance(10_000);
    assert.equal(calls.length - before, 100 * 3);
    assert.equal(changes.length, 100);
    prober.stop();
    assert.equal(clock.pending, 0);
  });

  test("jitter spreads the probes of many replicas", async () => {
    let draws = 0;
    const { results, calls, clock, prober } = setup({ random: () => (draws++ % 10) / 10 });
    const targets = Array.from({ length: 10 }, (_, slot) => target(`r${slot}`, slot));
    for (const { name } of targets) results.set(name, UP);
    prober.watch(targets);
    await clock.advance(5_000);
    const moments = new Set(calls.filter((call) => call.atMs > 0).map((call) => call.atMs));
    assert.ok(moments.size >= 5);
    prober.stop();
  });

  test("a replica removed from the list is not probed any more; its probes are aborted, late responses ignored", async () => {
    const world = setup();
    world.results.set("a", UP).set("b", { ...UP, "/v1/models": "timeout" });
    world.prober.watch([target("a", 0), target("b", 1)]);
    await world.clock.advance(0);
    world.prober.watch([target("a", 0)]);
    assert.equal(world.calls.find((call) => call.host === "b")?.signal.aborted, true);
    await world.clock.advance(20_000);
    assert.equal(world.calls.filter((call) => call.host === "b").length, 1);
    assert.deepEqual(world.changes, ["a ready"]);
    world.prober.stop();
    assert.equal(world.clock.pending, 0);
  });

  test("the same list again changes nothing; another address starts again without health", async () => {
    const world = await inService();
    const before = world.calls.length;
    world.prober.watch([target("a")]);
    await world.clock.advance(0);
    assert.equal(world.calls.length, before);
    world.results.set("b", DOWN);
    world.prober.watch([target("a", 0, "http://b:8000")]);
    await world.clock.advance(0);
    assert.equal(world.phase("a"), "starting");
    world.prober.stop();
  });

  const again = { ...modelList };
  const successors = new Map([[modelList, again]]);

  test("a config that only has other objects for the same things asks nobody sooner", async () => {
    const world = await inService();
    await world.clock.advance(1_000);
    const before = world.calls.length;
    world.prober.follow({ ...PROBE_DEFAULTS }, [again], successors);
    await world.clock.advance(0);
    assert.equal(world.calls.length, before);
    await world.clock.advance(60_000);
    assert.deepEqual(world.changes, ["a ready"]);
    assert.ok(world.paths(1_000).filter((path) => path === "/health").length >= 5, "liveness goes on too");
    world.prober.stop();
    assert.equal(world.clock.pending, 0);
  });

  test("other probes hold at once, and take no replica out by themselves", async () => {
    const world = await inService({}, { ...UP, "/ping": 200, "/up": 200 });
    await world.clock.advance(1_000);
    const liveness = { ...PROBE_DEFAULTS.liveness, path: "/ping", periodMs: 2_000 };
    const readiness = { ...PROBE_DEFAULTS.readiness, path: "/up", periodMs: 1_000, failureThreshold: 1 };
    world.prober.follow({ ...PROBE_DEFAULTS, liveness, readiness }, [again], successors);
    await world.clock.advance(0);
    assert.deepEqual(world.paths(1_000).sort(), ["/up", "/v1/models"], "the models have a reader of their own now");
    await world.clock.advance(10_000);
    assert.ok(world.paths(1_000).filter((path) => path === "/up").length >= 10);
    assert.ok(world.paths(1_000).filter((path) => path === "/ping").length >= 4);
    assert.deepEqual(world.changes, ["a ready"]);
    world.results.set("a", { ...UP, "/ping": 200 });
    await world.clock.advance(1_000);
    assert.deepEqual(world.changes, ["a ready", "a not-ready"]);
    world.prober.stop();
    assert.equal(world.clock.pending, 0);
  });

  test("what a probe is asked by the config before says nothing of the next", async () => {
    const world = await inService({
      probes: { ...PROBE_DEFAULTS, readiness: { ...PROBE_DEFAULTS.readiness, failureThreshold: 1 } },
    });
    world.results.set("a", { ...UP, "/v1/models": "timeout", "/up": 200 });
    await world.clock.advance(PROBE_DEFAULTS.readiness.periodMs);
    world.prober.follow(
      { ...PROBE_DEFAULTS, readiness: { ...PROBE_DEFAULTS.readiness, path: "/up", failureThreshold: 1 } },
      [],
      new Map(),
    );
    await world.clock.advance(10_000);
    assert.deepEqual(world.changes, ["a ready"]);
    world.prober.stop();
  });

  test("numbers stay with the source that follows, and go with one that has none", async () => {
    const pages = { ...UP, "/metrics": JSON.stringify({ waiting: 3 }) };
    const world = await inService({ sources: [modelList, metrics] }, pages);
    await world.clock.advance(10);
    assert.equal(world.load.waiting[0], 3);
    const next = { ...metrics };
    world.prober.follow(PROBE_DEFAULTS, [again, next], new Map([...successors, [metrics, next]]));
    assert.equal(world.load.waiting[0], 3);
    world.results.set("a", { ...pages, "/metrics": JSON.stringify({ waiting: 4 }) });
    await world.clock.advance(6_000);
    assert.equal(world.load.waiting[0], 4, "the next source is read as often");
    world.prober.follow(PROBE_DEFAULTS, [again], successors);
    assert.ok(Number.isNaN(world.load.waiting[0]));
    await world.clock.advance(6_000);
    assert.ok(!world.paths(6_010).includes("/metrics"));
    world.prober.follow(PROBE_DEFAULTS, [again, metrics], new Map());
    await world.clock.advance(10);
    assert.equal(world.load.waiting[0], 4, "a new source is read at once");
    world.prober.stop();
    assert.equal(world.clock.pending, 0);
  });

  test("configs that follow each other faster than a probe takes stop no probe", async () => {
    const world = setup();
    world.results.set("a", { ...UP, "/v1/models": "timeout" });
    world.prober.watch([target("a")]);
    for (let n = 0; n < 60; n++) {
      await world.clock.advance(100);
      world.prober.follow({ ...PROBE_DEFAULTS }, [{ ...modelList }], new Map());
    }
    assert.ok(world.calls.length >= 2, "the first probe timed out after five seconds");
    world.prober.stop();
  });

  test("a failure of the callback is logged, and probing goes on", async () => {
    const errors: string[] = [];
    const log: Log = { ...silentLog, error: (message) => void errors.push(message) };
    const world = setup({
      log,
      changed: () => {
        throw new TypeError("listener broke");
      },
    });
    world.results.set("a", UP);
    world.prober.watch([target("a")]);
    await world.clock.advance(10_000);
    assert.equal(errors.length, 1);
    assert.equal(world.prober.of(target("a"))?.health.phase, "ready");
    assert.equal(world.paths(1).length, 3);
    world.prober.stop();
  });
});
