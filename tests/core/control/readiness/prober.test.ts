import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Endpoint } from "../../../../core/contract/endpoint.ts";
import { parseEndpointUrl } from "../../../../core/contract/endpoint-url.ts";
import { type Log, silentLog } from "../../../../core/contract/log.ts";
import type { Source } from "../../../../core/contract/source.ts";
import { Prober, type ProberOptions } from "../../../../core/control/readiness/prober.ts";
import type { ReplicaHealth } from "../../../../core/control/readiness/replica-health.ts";
import { PROBE_DEFAULTS } from "../../../../core/settings/tables.ts";
import { LoadTable } from "../../../../core/state/load.ts";
import { GetError, type GetFailure, type HttpGet } from "../../../../core/wire/http-get-result.ts";
import { makeEndpoint } from "../../../support/endpoints.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

/** What a replica returns for one path: a body with 200, a status, a failure, or nothing until the timeout. */
type Result = string | number | GetFailure;

const LIST = JSON.stringify(["base"]);
const UP: Readonly<Record<string, Result>> = { "/v1/models": LIST, "/health": 200 };
const DOWN: Readonly<Record<string, Result>> = { "/v1/models": "refused", "/health": "refused" };
const FAILURES: ReadonlySet<Result> = new Set(["refused", "no such host", "unreachable", "timeout", "reset", "invalid", "too-large"]);

const modelList: Source = { path: "/v1/models", periodMs: 10_000, read: (body) => ({ models: JSON.parse(body) as string[] }) };
const metrics: Source = { path: "/metrics", periodMs: 1_000, read: (body) => JSON.parse(body) as { waiting: number } };

interface Call {
  readonly host: string;
  readonly path: string;
  readonly atMs: number;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** A prober whose replicas are a table of results, with a clock that the test moves. */
function setup(options: Partial<ProberOptions> = {}) {
  const clock = new FakeClock();
  const load = new LoadTable();
  const results = new Map<string, Readonly<Record<string, Result>>>();
  const calls: Call[] = [];
  const changes: string[] = [];
  const health = new Map<string, ReplicaHealth>();
  const open = new Map<string, number>();
  let mostOpen = 0;

  const get: HttpGet = async ({ url }, path, timeoutMs, maxBytes, signal) => {
    calls.push({ host: url.hostname, path, atMs: clock.now(), timeoutMs, maxBytes, signal });
    const key = `${url.hostname}${path}`;
    open.set(key, (open.get(key) ?? 0) + 1);
    mostOpen = Math.max(mostOpen, open.get(key) ?? 0);
    const result = results.get(url.hostname)?.[path] ?? 404;
    if (result === "timeout") await new Promise<void>((resolve) => clock.after(timeoutMs, resolve));
    open.set(key, (open.get(key) ?? 0) - 1);
    if (typeof result === "number") return { status: result, body: "" };
    if (FAILURES.has(result)) throw new GetError(result as GetFailure, "as the test asked");
    return { status: 200, body: result };
  };
  const changed = (name: string, now: ReplicaHealth) => {
    if (health.get(name)?.phase !== now.phase) changes.push(`${name} ${now.phase}`);
    health.set(name, now);
  };
  const prober = new Prober({
    clock,
    load,
    get,
    changed,
    random: () => 0,
    probes: PROBE_DEFAULTS,
    sources: [modelList],
    log: silentLog,
    ...options,
  });
  const phase = (name: string) => health.get(name)?.phase ?? "starting";
  const paths = (sinceMs: number) => calls.filter((call) => call.atMs >= sinceMs).map((call) => call.path);
  return { clock, load, results, calls, changes, health, prober, phase, paths, mostOpen: () => mostOpen };
}

function target(name: string, slot = 0, url = `http://${name}:8000`): Endpoint {
  return makeEndpoint(slot, { name, url: parseEndpointUrl(url) });
}

/** One replica that responds on all paths and is in service. */
async function inService(options: Partial<ProberOptions> = {}, results = UP) {
  const world = setup(options);
  world.results.set("a", results);
  world.prober.watch([target("a")]);
  await world.clock.advance(0);
  assert.equal(world.phase("a"), "ready");
  return world;
}

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
