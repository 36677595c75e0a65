import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Log, silentLog } from "../../../../core/contract/log.ts";
import type { Source } from "../../../../core/contract/source.ts";
import { type Call, DOWN, inService, LIST, metrics, modelList, setup, target, UP } from "./prober-set-up.ts";

describe("sources", () => {
  const withMetrics = { ...UP, "/metrics": '{"waiting":3,"kvUsage":0.5}' };

  test("a path that the readiness probe fetches is not fetched again", async () => {
    const { clock, paths, prober } = await inService();
    await clock.advance(20_000);
    assert.equal(paths(1).filter((path) => path === "/v1/models").length, 4);
    prober.stop();
  });

  test("numbers reach the load table at once and every period", async () => {
    const { results, clock, load, prober } = await inService({ sources: [modelList, metrics] }, withMetrics);
    assert.equal(load.waiting[0], 3);
    assert.equal(load.kvUsage[0], 0.5);
    assert.ok(Number.isNaN(load.running[0]));
    results.set("a", { ...withMetrics, "/metrics": '{"waiting":4}' });
    await clock.advance(1_000);
    assert.equal(load.waiting[0], 4);
    assert.equal(load.scrapedAtMs[0], 1_000);
    prober.stop();
  });

  for (const bad of [500, 404, "reset", "too-large", "no metrics"] as const) {
    test(`metrics that fail (${bad}): numbers fade after two periods, are forgotten after five, and change no phase`, async () => {
      const { results, clock, load, prober, phase } = await inService({ sources: [modelList, metrics] }, withMetrics);
      results.set("a", { ...withMetrics, "/metrics": bad });
      const confidences: number[] = [];
      for (let period = 1; period <= 5; period++) {
        await clock.advance(1_000);
        confidences.push(load.freshness[0]!);
      }
      assert.deepEqual(
        confidences.map((confidence) => confidence.toFixed(2)),
        ["1.00", "1.00", "0.67", "0.33", "0.00"],
      );
      assert.ok(Number.isNaN(load.waiting[0]));
      assert.ok(Number.isNaN(load.scrapedAtMs[0]));
      assert.equal(phase("a"), "ready");
      prober.stop();
    });
  }

  test("metrics that come again count fully at once", async () => {
    const { results, clock, load, prober } = await inService({ sources: [modelList, metrics] }, withMetrics);
    results.set("a", { ...withMetrics, "/metrics": 500 });
    await clock.advance(3_000);
    results.set("a", withMetrics);
    await clock.advance(1_000);
    assert.deepEqual([load.waiting[0], load.freshness[0]], [3, 1]);
    prober.stop();
  });

  test("while the metrics hang, the numbers fade too, and no second fetch begins", async () => {
    const world = await inService({ sources: [modelList, metrics] }, withMetrics);
    world.results.set("a", { ...withMetrics, "/metrics": "timeout" });
    await world.clock.advance(3_000);
    assert.ok(Math.abs(world.load.freshness[0]! - 2 / 3) < 1e-9);
    await world.clock.advance(2_000);
    assert.ok(Number.isNaN(world.load.waiting[0]));
    assert.equal(world.mostOpen(), 1);
    world.prober.stop();
  });

  const lazy: Source = { ...metrics, idlePeriodMs: 5_000 };
  const fetchesSince = (calls: readonly Call[], sinceMs: number) =>
    calls.filter(({ path, atMs }) => path === "/metrics" && atMs > sinceMs).map(({ atMs }) => atMs - sinceMs);

  test("metrics are read once in each idle period; in each period while the replica is busy, and once after it", async () => {
    const { calls, clock, load, prober } = await inService({ sources: [modelList, lazy] }, withMetrics);
    await clock.advance(20_000);
    assert.deepEqual(fetchesSince(calls, 0), [5_000, 10_000, 15_000, 20_000]);
    load.begin(0, { tokens: 10, hasFirstByte: true }, clock.now());
    await clock.advance(3_000);
    assert.deepEqual(fetchesSince(calls, 20_000), [1_000, 2_000, 3_000]);
    load.end(0);
    await clock.advance(7_000);
    assert.deepEqual(fetchesSince(calls, 23_000), [1_000, 6_000]);
    assert.equal(load.freshness[0], 1, "numbers do not fade before the next fetch is due");
    prober.stop();
  });

  test("an idle replica whose metrics fail is asked in each period until its numbers are forgotten", async () => {
    const { results, calls, clock, load, prober } = await inService({ sources: [modelList, lazy] }, withMetrics);
    results.set("a", { ...withMetrics, "/metrics": 500 });
    await clock.advance(20_000);
    assert.deepEqual(fetchesSince(calls, 0), [5_000, 6_000, 7_000, 8_000, 9_000, 14_000, 19_000]);
    assert.ok(Number.isNaN(load.waiting[0]));
    prober.stop();
  });

  for (const missing of [404, 501, "no metrics"] as const) {
    test(`a replica without metrics (${missing}) is asked once a minute, even when busy`, async () => {
      const { calls, clock, load, prober } = await inService({ sources: [modelList, lazy] }, { ...UP, "/metrics": missing });
      load.begin(0, { tokens: 10, hasFirstByte: true }, clock.now());
      await clock.advance(120_000);
      assert.deepEqual(fetchesSince(calls, 0), [60_000, 120_000]);
      assert.equal(load.freshness[0], 0);
      load.end(0);
      prober.stop();
    });
  }

  for (const broken of ["no metrics", "too-large"] as const) {
    test(`metrics that can't be read any more (${broken}) are reported once, and asked for as before`, async () => {
      const warned: string[] = [];
      const log: Log = { ...silentLog, warn: (message, fields) => void warned.push(`${message}: ${fields?.["endpoint"]}`) };
      const { results, calls, clock, load, prober } = await inService({ sources: [modelList, lazy], log }, withMetrics);
      results.set("a", { ...withMetrics, "/metrics": broken });
      await clock.advance(30_000);
      assert.deepEqual(warned, ["A replica's numbers can't be read: a"]);
      assert.ok(Number.isNaN(load.waiting[0]));
      results.set("a", withMetrics);
      const beforeMs = clock.now();
      await clock.advance(6_000);
      assert.equal(fetchesSince(calls, beforeMs).length, 1);
      assert.ok(!Number.isNaN(load.waiting[0]));
      prober.stop();
    });
  }

  test("metrics of a hundred replicas are not fetched at the same moments", async () => {
    let draws = 0;
    const { results, calls, clock, prober } = setup({ sources: [modelList, lazy], random: () => (draws++ % 97) / 97 });
    const targets = Array.from({ length: 100 }, (_, slot) => target(`r${slot}`, slot));
    for (const { name } of targets) results.set(name, withMetrics);
    prober.watch(targets);
    await clock.advance(60_000);
    const moments = fetchesSince(calls, 0);
    assert.ok(moments.length >= 1_100 && moments.length <= 1_400, `${moments.length}`);
    assert.ok(new Set(moments).size > 500);
    prober.stop();
  });

  test("adapters reach the load table, and the cache's capacity the callback", async () => {
    const capacities: (readonly [number, number | undefined])[] = [];
    const list: Source = { ...modelList, read: () => ({ models: ["base", "a1"], adapters: ["a1"] }) };
    const use = { running: new Set(["a1"]), waiting: new Set<string>(), max: 2 };
    const numbers: Source = {
      ...metrics,
      read: (...text) => ({ ...metrics.read(...text), adapterUse: use, kvCapacityTokens: 4_096 }),
    };
    const { results, clock, load, prober } = await inService(
      { sources: [list, numbers], capacityKnown: (slot, tokens) => capacities.push([slot, tokens]) },
      withMetrics,
    );
    await clock.advance(3_000);
    assert.deepEqual(load.adapters[0], { names: new Set(["a1"]), use });
    assert.deepEqual(capacities, [[0, 4_096]], "reported once, not after each read");
    results.set("a", { ...withMetrics, "/metrics": 500 });
    await clock.advance(6_000);
    assert.deepEqual(load.adapters[0], { names: new Set(["a1"]), use: undefined });
    assert.deepEqual(capacities, [[0, 4_096]], "a cache does not shrink because the metrics fail");
    prober.stop();
    assert.equal(load.adapters[0], undefined);
    assert.deepEqual(capacities.at(-1), [0, undefined], "the slot may get another replica");
  });

  test("sources of one path share the fetch, and their numbers are merged", async () => {
    const part = (name: "waiting" | "running"): Source => ({ path: "/metrics", periodMs: 1_000, read: () => ({ [name]: 7 }) });
    const { clock, load, paths, prober } = await inService({ sources: [part("waiting"), part("running")] }, withMetrics);
    assert.deepEqual([load.waiting[0], load.running[0]], [7, 7]);
    await clock.advance(3_000);
    assert.equal(paths(1).filter((path) => path === "/metrics").length, 3);
    prober.stop();
  });

  test("one source that can't read the body does not make the others' numbers old", async () => {
    const broken: Source = {
      ...metrics,
      read: () => {
        throw new Error("not mine");
      },
    };
    const { clock, load, prober } = await inService({ sources: [modelList, broken, metrics] }, withMetrics);
    await clock.advance(10_000);
    assert.deepEqual([load.waiting[0], load.freshness[0]], [3, 1]);
    prober.stop();
  });

  test("out of service no metrics are fetched, and the numbers are unknown at once", async () => {
    const { results, clock, load, paths, prober } = await inService({ sources: [modelList, metrics] }, withMetrics);
    results.set("a", DOWN);
    prober.of(target("a"))?.connectFailed();
    assert.ok(Number.isNaN(load.waiting[0]));
    await clock.advance(3_000);
    assert.equal(paths(1).includes("/metrics"), false);
    prober.stop();
  });

  test("a model list from another path counts too, together with the first", async () => {
    const adapters: Source = { path: "/adapters", periodMs: 2_000, read: () => ({ models: ["a1"] }) };
    const { health, prober } = await inService({ sources: [modelList, adapters] }, { ...UP, "/adapters": "" });
    assert.deepEqual(health.get("a")?.models, ["base", "a1"]);
    prober.stop();
  });

  test("bodies are bounded: 1 MiB for probes, 4 MiB for sources", async () => {
    const { calls, prober } = await inService({ sources: [modelList, metrics] }, withMetrics);
    const limits = new Map(calls.map((call) => [call.path, call.maxBytes]));
    assert.deepEqual([...limits.values()], [1 << 20, 1 << 20, 4 << 20]);
    prober.stop();
  });
});

describe("a model list that responses contradict", () => {
  const elsewhere: Source = { ...modelList, path: "/own/list" };
  const lists: readonly (readonly [name: string, path: string, sources: readonly Source[]])[] = [
    ["at the readiness path", "/v1/models", [modelList]],
    ["at a path of its own", "/own/list", [elsewhere]],
  ];
  for (const [name, path, sources] of lists) {
    test(`${name} is read at once, then once in a second, however often they do`, async () => {
      const { clock, results, calls, health, prober } = setup({ sources });
      results.set("a", { ...UP, [path]: LIST });
      prober.watch([target("a")]);
      await clock.advance(500);
      results.set("a", { ...UP, [path]: JSON.stringify(["base", "v1"]) });
      const begunAtMs = clock.now();
      prober.of(target("a"))?.checkModels();
      await clock.advance(10);
      assert.deepEqual(health.get("a")?.models, ["base", "v1"]);
      for (let i = 0; i < 200; i++) {
        prober.of(target("a"))?.checkModels();
        await clock.advance(10);
      }
      const reads = calls.filter((call) => call.path === path && call.atMs >= begunAtMs);
      assert.deepEqual(
        reads.map(({ atMs }) => atMs - begunAtMs),
        [0, 1_000, 2_000],
      );
      prober.stop();
    });
  }

  test("of a replica that is out of service is read when its probes are due", async () => {
    const { clock, results, calls, prober } = setup();
    results.set("a", DOWN);
    prober.watch([target("a")]);
    await clock.advance(100);
    const before = calls.length;
    prober.of(target("a"))?.checkModels();
    await clock.advance(10);
    assert.equal(calls.length, before);
    prober.stop();
  });
});
