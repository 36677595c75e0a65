import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Detector } from "../../../core/contract/detector.ts";
import type { EndpointSpec } from "../../../core/contract/endpoint.ts";
import { silentLog } from "../../../core/contract/log.ts";
import type { Source } from "../../../core/contract/source.ts";
import { ControlPlane } from "../../../core/control/control-plane.ts";
import { PROBE_DEFAULTS } from "../../../core/settings/tables.ts";
import type { Facts } from "../../../core/state/facts.ts";
import { LoadTable } from "../../../core/state/load.ts";
import { GetError } from "../../../core/wire/get-error.ts";
import { DEFAULT_EJECTION } from "../../../plugins/features/ejection/ejection-config.ts";
import { makeActiveConfig } from "../../support/active-config.ts";
import { makeRequest, seededRandom } from "../../support/endpoints.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { FEATURES } from "../../support/section-modules.ts";

const named = <Plugin>(name: string, plugin: Plugin) => ({ name, type: name, plugin });
const spec = (name: string, host = name): EndpointSpec => ({ name, url: `http://${host}:8000`, labels: {} });

/** Reads "base adapter 5000": models, and the cache's tokens behind them. */
const list: Source = {
  path: "/v1/models",
  periodMs: 10_000,
  read(page) {
    const words = page.split(" ");
    return { models: words.slice(0, -1), kvCapacityTokens: Number(words.at(-1)) };
  },
};

/** A control plane over discoveries whose `found` the test calls, and replicas that serve what it says. */
function setUp(discoveries: readonly string[] = ["static"]) {
  const clock = new FakeClock();
  const load = new LoadTable();
  /** What each host says on its list; one that is not here refuses. */
  const pages = new Map<string, string>();
  const asked: string[] = [];
  const published: Facts[] = [];
  const replaced: number[] = [];
  const gone: string[] = [];
  const capacities: (readonly [slot: number, tokens: number | undefined])[] = [];
  const found = new Map<string, (specs: readonly EndpointSpec[]) => void>();
  const plane = new ControlPlane({
    plugins: {
      discoveries: discoveries.map((name) => named(name, { start: (tell) => void found.set(name, tell) })),
      sources: [named("list", list)],
      detectors: [],
    },
    probes: PROBE_DEFAULTS,
    active: makeActiveConfig(),
    makeJudge: FEATURES.find(({ judge }) => judge)!.judge!,
    tries: { lastByteMs: () => 0, triesAt: () => [] },
    services: { clock, random: seededRandom(1), log: silentLog, output: { print() {}, isTerminal: false } },
    load,
    async get({ url: { hostname } }, path) {
      asked.push(hostname);
      const page = pages.get(hostname);
      if (page === undefined) throw new GetError("refused", "Nobody listens");
      return { status: 200, body: path === list.path ? page : "{}" };
    },
    replaced: (slot) => void replaced.push(slot),
    capacityKnown: (slot, tokens) => void capacities.push([slot, tokens]),
    gone: ({ name }) => void gone.push(name),
    publish: (facts) => void published.push(facts),
  });
  plane.start();
  const find = (specs: readonly EndpointSpec[], discovery = discoveries[0]!) => found.get(discovery)?.(specs);
  const names = () => published.at(-1)?.endpoints.map(({ name }) => name);
  const endpoint = (name: string) => published.at(-1)!.endpoints.find((each) => each.name === name)!;
  /** The plan of a config whose discoveries find `lists` at their start; a list that is undefined comes later. */
  const plan = (lists: Readonly<Record<string, readonly EndpointSpec[] | undefined>>) => {
    const start = (name: string) => (tell: (specs: readonly EndpointSpec[]) => void) => {
      found.set(name, tell);
      const specs = lists[name];
      if (specs !== undefined) tell(specs);
    };
    return {
      plugins: {
        discoveries: Object.keys(lists).map((name) => named(name, { start: start(name) })),
        sources: [named("list", { ...list })],
        detectors: [] as readonly ReturnType<typeof named<Detector>>[],
      },
      probes: PROBE_DEFAULTS,
      active: makeActiveConfig(),
    };
  };
  return { clock, load, pages, asked, published, replaced, capacities, plane, find, names, endpoint, plan };
}

/** One replica that is ready. */
async function setUpReady() {
  const world = setUp();
  world.pages.set("a", "base adapter 5000");
  world.find([spec("a")]);
  await world.clock.advance(0);
  assert.ok(world.endpoint("a").isAvailable);
  return world;
}

describe("the pool", () => {
  it("is what all discoveries found, in the config's order, whoever speaks first", () => {
    const { find, names, plane } = setUp(["file", "dns"]);
    find([spec("d1")], "dns");
    assert.deepEqual(names(), ["d1"]);
    find([spec("f1"), spec("f2")], "file");
    assert.deepEqual(names(), ["f1", "f2", "d1"]);
    find([spec("d2")], "dns");
    assert.deepEqual(names(), ["f1", "f2", "d2"]);
    find([], "file");
    assert.deepEqual(names(), ["d2"]);
    plane.stop();
  });

  it("changes when a discovery says so, not when it changes its list", () => {
    const { find, names, plane } = setUp(["file", "dns"]);
    const specs = [spec("f1"), spec("f2")];
    find(specs, "file");
    specs.length = 0;
    find([spec("d1")], "dns");
    assert.deepEqual(names(), ["f1", "f2", "d1"]);
    plane.stop();
  });
});

describe("facts", () => {
  it("are published as they change, and each stays what it was", async () => {
    const { clock, pages, published, find, plane } = setUp();
    find([spec("a"), spec("b")]);
    await clock.advance(0);
    const [first] = published;
    pages.set("a", "base adapter 5000");
    pages.set("b", "base other 5000");
    await clock.advance(2_000);
    pages.delete("b");
    await clock.advance(60_000);
    assert.deepEqual(
      first?.endpoints.map(({ name, phase }) => [name, phase]),
      [
        ["a", "starting"],
        ["b", "starting"],
      ],
    );
    assert.deepEqual([...first!.served], []);
    assert.ok(published.every(({ endpoints }) => endpoints.every((each) => Object.isFrozen(each))));
    const { endpoints, served } = published.at(-1)!;
    assert.deepEqual(
      endpoints.map(({ name, phase, isAvailable }) => [name, phase, isAvailable]),
      [
        ["a", "ready", true],
        ["b", "not-ready", false],
      ],
    );
    assert.deepEqual([...served], ["base", "adapter"], "what nobody can be sent to is not served");
    plane.stop();
  });

  it("are not published where nothing has changed", async () => {
    const { clock, published, find, plane } = await setUpReady();
    const count = published.length;
    find([spec("a")]);
    await clock.advance(60_000);
    assert.equal(published.length, count);
    plane.stop();
  });
});

describe("what the router must know of a replica", () => {
  it("is how much its cache holds, under its slot", async () => {
    const { capacities, endpoint, plane } = await setUpReady();
    assert.deepEqual(capacities.at(-1), [endpoint("a").slot, 5_000]);
    plane.stop();
  });

  it("is when another process stands behind its slot", async () => {
    const { clock, pages, replaced, find, endpoint, plane } = await setUpReady();
    const { slot, generation } = endpoint("a");
    assert.deepEqual(replaced.splice(0), [slot], "new");
    pages.delete("a");
    await clock.advance(60_000);
    assert.deepEqual(replaced, [], "not while it is away");
    pages.set("a", "base adapter 5000");
    await clock.advance(60_000);
    assert.deepEqual(replaced.splice(0), [slot], "restarted");
    find([spec("a", "elsewhere")]);
    assert.deepEqual(replaced.splice(0), [slot], "moved");
    assert.equal(endpoint("a").slot, slot);
    assert.ok(endpoint("a").generation > generation + 1);
    plane.stop();
  });

  it("is what its last probe failed with", async () => {
    const { clock, pages, endpoint, plane } = await setUpReady();
    assert.equal(plane.probeFailure(endpoint("a")), "");
    pages.delete("a");
    await clock.advance(60_000);
    assert.equal(plane.probeFailure(endpoint("a")), "refused");
    plane.stop();
  });
});

describe("a control plane that is stopped", () => {
  it("asks nobody, publishes nothing and leaves no timer, whatever discoveries and requests still say", async () => {
    const { clock, asked, published, find, endpoint, plane } = await setUpReady();
    const known = endpoint("a");
    plane.stop();
    asked.length = published.length = 0;
    find([spec("a"), spec("late")]);
    plane.connectFailed(known);
    assert.equal(clock.pending, 0);
    await clock.advance(60_000);
    assert.deepEqual([asked, published], [[], []]);
  });
});

describe("the plan of the next config", () => {
  it("leaves an endpoint that stays as it is: same slot, health, facts and cache", async () => {
    const { published, asked, capacities, replaced, load, endpoint, plane, plan } = await setUpReady();
    const before = endpoint("a");
    load.scraped(before.slot, { waiting: 3 }, 0);
    for (const log of [published, asked, capacities, replaced]) log.length = 0;
    plane.prepare(plan({ static: [spec("a")] }))();
    assert.deepEqual([published, asked, capacities, replaced], [[], [], [], []]);
    plane.prepare(plan({ static: [{ ...spec("a"), labels: { gpu: "h100" } }, spec("b")] }))();
    assert.deepEqual(endpoint("a"), { ...before, labels: { gpu: "h100" } });
    assert.equal(load.waiting[before.slot], 3);
    assert.deepEqual([capacities, replaced], [[], [endpoint("b").slot]]);
    plane.stop();
  });

  it("changes nothing until it takes effect, and nothing at all when a discovery can't start", async () => {
    const { clock, find, names, plane, plan } = await setUpReady();
    const apply = plane.prepare(plan({ static: [spec("b")] }));
    assert.deepEqual(names(), ["a"]);
    const broken = plan({ static: [spec("c")] });
    const start = () => {
      throw new Error("no network");
    };
    broken.plugins.discoveries = [...broken.plugins.discoveries, named("dns", { start })];
    assert.throws(() => plane.prepare(broken), /"dns" can't start: no network/);
    find([spec("late")]);
    assert.deepEqual(names(), ["a"], "what was started of it is not heard");
    apply();
    assert.deepEqual(names(), ["b"]);
    plane.stop();
    assert.equal(clock.pending, 0);
  });

  it("keeps the endpoints of a discovery that has yet to answer", async () => {
    const { find, names, endpoint, plane, plan } = await setUpReady();
    plane.prepare(plan({ dns: undefined }))();
    assert.deepEqual([names(), endpoint("a").isAvailable], [["a"], true]);
    find([spec("a"), spec("b")], "dns");
    assert.deepEqual([names(), endpoint("a").isAvailable], [["a", "b"], true]);
    find([spec("b")], "dns");
    assert.deepEqual(names(), ["b"]);
    plane.stop();
  });

  it("brings its detectors and settings, and what is ejected stays so", async () => {
    const { clock, pages, endpoint, plane, plan } = await setUpReady();
    for (const name of ["b", "c", "d"]) pages.set(name, "base adapter 5000");
    const specs = ["a", "b", "c", "d"].map((name) => spec(name));
    const judging = (reason: string | undefined, ejection = DEFAULT_EJECTION) => {
      const next = plan({ static: specs });
      const detect = ({ consecutiveFailures }: { consecutiveFailures: number }) => (consecutiveFailures > 0 ? reason : undefined);
      return {
        ...next,
        active: makeActiveConfig({ features: new Map([["ejection", ejection]]) }),
        plugins: { ...next.plugins, detectors: [named("judge", { detect })] },
      };
    };
    const fail = (name: string) => {
      plane.traffic.sent(makeRequest({}), endpoint(name), clock.now());
      plane.traffic.failed(makeRequest({}), endpoint(name), "connect-failed", clock.now(), clock.now());
    };
    plane.prepare(judging(undefined))();
    await clock.advance(1_000);
    fail("a");
    assert.equal(endpoint("a").ejection, undefined);
    plane.prepare(judging("it looks bad", { ...DEFAULT_EJECTION, baseMs: 1_000_000, maxMs: 1_000_000 }))();
    fail("a");
    assert.equal(endpoint("a").ejection?.reason, "it looks bad");
    assert.ok(endpoint("a").ejection!.untilMs - clock.now() > 500_000, "for as long as the new settings say");
    plane.prepare(judging("other words"))();
    assert.deepEqual([endpoint("a").ejection?.reason, endpoint("a").isAvailable], ["it looks bad", false]);
    plane.prepare(judging("", { ...DEFAULT_EJECTION, isOn: false }))();
    assert.deepEqual([endpoint("a").ejection, endpoint("a").isAvailable], [undefined, true], "turned off: all return");
    fail("b");
    assert.equal(endpoint("b").ejection, undefined);
    plane.prepare(judging("again"))();
    fail("b");
    assert.equal(endpoint("b").ejection?.reason, "again");
    plane.stop();
    assert.equal(clock.pending, 0);
  });
});

describe("an endpoint that others replace", () => {
  const replaced: EndpointSpec = { ...spec("old"), replacedBy: ["new-1", "new-2"] };
  const namesOf = (facts: Facts | undefined) => facts?.endpoints.map(({ name, isAvailable }) => `${name} ${isAvailable}`);

  it("serves until all of them are ready, and goes with the news that they are", async () => {
    const { find, pages, clock, published } = setUp();
    pages.set("old", "base 5000");
    find([spec("old")]);
    await clock.advance(5_000);
    const slot = published.at(-1)?.endpoints[0]?.slot;
    find([spec("new-1"), spec("new-2"), replaced]);
    await clock.advance(5_000);
    assert.deepEqual(namesOf(published.at(-1)), ["new-1 false", "new-2 false", "old true"]);
    assert.equal(published.at(-1)?.endpoints[2]?.slot, slot, "it did not start anew");
    pages.set("new-1", "base 5000");
    await clock.advance(30_000);
    assert.deepEqual(namesOf(published.at(-1)), ["new-1 true", "new-2 false", "old true"]);
    pages.set("new-2", "base 5000");
    await clock.advance(30_000);
    assert.deepEqual(namesOf(published.at(-1)), ["new-1 true", "new-2 true"]);
    for (const { endpoints } of published.slice(-10)) assert.ok(endpoints.some(({ isAvailable }) => isAvailable));
  });

  it("goes at once where it is not ready itself", async () => {
    const { find, names, clock } = setUp();
    find([spec("old")]);
    await clock.advance(5_000);
    find([spec("new-1"), spec("new-2"), replaced]);
    assert.deepEqual(names(), ["new-1", "new-2"]);
  });

  it("goes at once where they are ready already", async () => {
    const { find, pages, clock, published } = setUp();
    for (const name of ["old", "new-1", "new-2"]) pages.set(name, "base 5000");
    find([spec("old"), spec("new-1"), spec("new-2")]);
    await clock.advance(5_000);
    find([replaced, spec("new-1"), spec("new-2")]);
    assert.deepEqual(namesOf(published.at(-1)), ["new-1 true", "new-2 true"]);
  });
});
