import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Detector, EndpointRecord } from "../../../../core/contract/detector.ts";
import type { Endpoint } from "../../../../core/contract/endpoint.ts";
import { silentLog } from "../../../../core/contract/log.ts";
import { makeEndpoint, makeEndpoints } from "../../../../core/contract/test-kit.ts";
import type { WatchedTry } from "../../../../core/wire/watched-try.ts";
import { DEFAULT_EJECTION, type EjectionSettings } from "../../../../plugins/features/ejection/ejection-config.ts";
import { Ejector } from "../../../../plugins/features/ejection/ejector.ts";
import { EndpointRecords } from "../../../../plugins/features/ejection/endpoint-records.ts";

/** Three failures in a row. */
const failing: Detector = {
  detect: ({ consecutiveFailures }) => (consecutiveFailures >= 3 ? `${consecutiveFailures} failures in a row` : undefined),
};

class Setup {
  nowMs = 0;
  readonly endpoints: readonly Endpoint[];
  readonly records = new EndpointRecords();
  readonly changed: string[] = [];
  /** What is under way, by the endpoint's name, and what was cut of it. */
  readonly tries = new Map<string, WatchedTry[]>();
  readonly cut: string[] = [];
  /** When endpoints last sent a token. */
  readonly lastByteMs = new Map<string, number>();
  /** Endpoints that fail their probes, but not often enough to leave; the others pass one at each moment. */
  readonly failsProbes = new Set<string>();
  readonly probedSoon: string[] = [];
  isLoading = false;
  /** How long nothing may move. */
  mostQuietMs: (record: EndpointRecord) => number = () => 10_000;
  readonly logged: string[] = [];
  readonly unhealthy = new Set<string>();
  readonly ejector: Ejector;

  constructor(endpoints: readonly Endpoint[] = makeEndpoints(4), settings: Partial<EjectionSettings> = {}) {
    this.endpoints = endpoints;
    this.ejector = new Ejector({
      settings: () => ({ ...DEFAULT_EJECTION, ...settings }),
      detectors: () => [failing, this.#stuck].map((plugin, index) => ({ name: `d${index}`, type: "test", plugin })),
      records: this.records,
      // In the middle: no jitter.
      random: () => 0.5,
      log: { ...silentLog, warn: (message) => void this.logged.push(message) },
      isHealthy: (name) => !this.unhealthy.has(name),
      workAheadMs: () => 0,
      isLoading: () => this.isLoading,
      mayAnswer: ({ labels }) => labels["role"] !== "prefill",
      tries: {
        lastByteMs: ({ name }) => this.lastByteMs.get(name) ?? Number.NEGATIVE_INFINITY,
        triesAt: ({ name }) => [...(this.tries.get(name) ?? [])],
      },
      changed: (name) => void this.changed.push(name),
      probePassedMs: ({ name }) => (this.failsProbes.has(name) ? Number.NEGATIVE_INFINITY : this.nowMs),
      probeSoon: ({ name }) => void this.probedSoon.push(name),
    });
    this.ejector.follow(endpoints, 0);
  }

  readonly #stuck: Detector = {
    cutsWaiting: true,
    detect: (record) => (record.quietMs > this.mostQuietMs(record) ? "nothing moves" : undefined),
  };

  /** A request that gets no answer, or, with `isFlowing`, no more than it has. */
  hang(index: number, { isStream = true, isFlowing = false, target = "" } = {}): void {
    const endpoint = this.endpoints[index]!;
    const sinceMs = this.nowMs;
    const nowMs = () => this.nowMs;
    this.records.sent(endpoint, isStream, sinceMs, target);
    this.ejector.sent(endpoint, sinceMs);
    const tries = this.tries.get(endpoint.name) ?? [];
    this.tries.set(endpoint.name, tries);
    const hung: WatchedTry = {
      watchState: isFlowing ? "streaming" : "waiting",
      isStream,
      longestGapMs: 0,
      get silenceMs() {
        return nowMs() - sinceMs;
      },
      cut: () => {
        tries.splice(tries.indexOf(hung), 1);
        this.cut.push(`${endpoint.name} ${hung.watchState} ${hung.silenceMs}`);
        this.records.abandoned(endpoint, isStream, target);
        this.ejector.ended(endpoint, sinceMs);
      },
    };
    tries.push(hung);
  }

  fail(index: number, times = 3, sentAtMs = this.nowMs): void {
    const endpoint = this.endpoints[index]!;
    for (let i = 0; i < times; i++) {
      this.records.failed(endpoint, "reset", this.nowMs);
      this.ejector.failed(endpoint, sentAtMs, this.nowMs);
    }
  }

  succeed(index: number, tokens = 0, sentAtMs = this.nowMs): void {
    const endpoint = this.endpoints[index]!;
    this.records.succeeded(endpoint, tokens, this.nowMs);
    this.ejector.succeeded(endpoint, sentAtMs, this.nowMs);
  }

  /** Lets time pass, with the sweeps that come in it. */
  wait(ms: number): void {
    for (const endMs = this.nowMs + ms; this.nowMs < endMs; ) {
      this.nowMs = Math.min(endMs, this.nowMs + 500);
      this.ejector.sweep(this.nowMs);
    }
  }

  standing(index: number) {
    return this.ejector.standingOf(this.endpoints[index]!.name);
  }

  isOut(index: number): boolean {
    const { ejection, isOnTrial, isNeeded } = this.standing(index);
    return ejection !== undefined && !isOnTrial && !isNeeded;
  }
}

describe("a router that stood still, as where its process was suspended", () => {
  const waiting = () => {
    const setup = new Setup();
    setup.records.sent(setup.endpoints[0]!, true, setup.nowMs);
    setup.wait(9_000);
    setup.nowMs += 60_000;
    setup.ejector.sweep(setup.nowMs);
    return setup;
  };

  it("takes none of that time for a silence of its endpoints", () => {
    const setup = waiting();
    assert.deepEqual([setup.changed, setup.cut], [[], []]);
  });

  it("goes on to count their silence afterwards", () => {
    const setup = waiting();
    setup.wait(500);
    assert.equal(setup.isOut(0), false);
    setup.wait(500);
    assert.equal(setup.isOut(0), true);
  });
});

describe("an endpoint whose requests fail", () => {
  it("is ejected at once, with the reason and the time", () => {
    const setup = new Setup();
    setup.nowMs = 1_000;
    setup.fail(0, 2);
    assert.equal(setup.standing(0).ejection, undefined);
    setup.fail(0, 1);
    assert.deepEqual(setup.standing(0).ejection, { reason: "3 failures in a row", sinceMs: 1_000, untilMs: 11_000 });
    assert.deepEqual(setup.changed, ["e0"]);
    assert.equal(setup.ejector.ejectionsOf("e0"), 1);
  });

  it("stays out for twice as long each time a trial fails, up to the most", () => {
    const setup = new Setup(undefined, { maxMs: 60_000 });
    setup.fail(0);
    const lengths: number[] = [];
    for (let round = 0; round < 5; round++) {
      const { reason, sinceMs, untilMs } = setup.standing(0).ejection!;
      assert.equal(reason, "3 failures in a row");
      const fromMs = setup.nowMs;
      lengths.push(untilMs - fromMs);
      assert.equal(sinceMs, 0);
      setup.wait(untilMs - fromMs);
      assert.equal(setup.standing(0).isOnTrial, true);
      setup.fail(0, 1);
      assert.equal(setup.isOut(0), true);
    }
    assert.deepEqual(lengths, [10_000, 20_000, 40_000, 60_000, 60_000]);
  });

  it("returns after one success on trial, with a share that grows by the tokens it serves", () => {
    const setup = new Setup(undefined, { warmUpTokens: 1_000 });
    setup.fail(0);
    setup.wait(10_000);
    setup.succeed(0);
    assert.deepEqual(setup.standing(0), { ejection: undefined, isOnTrial: false, isNeeded: false, warmUp: 0.1 });
    setup.succeed(0, 500);
    assert.equal(setup.standing(0).warmUp, 0.55);
    setup.succeed(0, 500);
    setup.wait(500);
    assert.equal(setup.standing(0).warmUp, 1);
  });

  it("grows by requests where these come first: short ones have few tokens", () => {
    const setup = new Setup(undefined, { warmUpTokens: 20_000, warmUpRequests: 10 });
    setup.fail(0);
    setup.wait(10_000);
    setup.succeed(0);
    for (let n = 0; n < 5; n++) setup.succeed(0, 42);
    assert.equal(setup.standing(0).warmUp, 0.55);
    for (let n = 0; n < 5; n++) setup.succeed(0, 42);
    setup.wait(500);
    assert.equal(setup.standing(0).warmUp, 1);
  });

  it("has a share between 0 and 1, whatever late tries of the process before it tell", () => {
    const former = makeEndpoint(0);
    const setup = new Setup([{ ...former, generation: 1 }, ...makeEndpoints(4).slice(1)]);
    const { records } = setup;
    for (let n = 0; n < 435; n++) setup.succeed(0, 100);
    setup.fail(0);
    setup.wait(10_000);
    setup.succeed(0);
    const late: readonly (readonly [what: string, tell: () => void])[] = [
      ["no try", () => {}],
      ["a reset", () => records.failed(former, "reset", setup.nowMs)],
      ["a success", () => records.succeeded(former, 10, setup.nowMs)],
      ["a malformed response", () => records.malformed(former, "no end", setup.nowMs)],
      ["a missing model", () => records.missedModel(former, "m", setup.nowMs)],
      ["a gateway that did without it", () => records.passedOver(former, 4, setup.nowMs)],
      ["a client that reads again", () => records.sent(former, true, setup.nowMs)],
    ];
    for (const [what, tell] of late) {
      tell();
      assert.equal(setup.standing(0).warmUp, 0.1, what);
    }
    setup.succeed(0);
    const { warmUp } = setup.standing(0);
    assert.ok(warmUp > 0.1 && warmUp <= 1, `${warmUp}`);
  });

  it("is judged on trial by what was sent since the trial began", () => {
    const setup = new Setup();
    setup.fail(0);
    setup.wait(10_000);
    setup.fail(0, 5, 9_999);
    assert.equal(setup.standing(0).isOnTrial, true);
    setup.succeed(0, 0, 9_999);
    assert.equal(setup.standing(0).isOnTrial, true);
    setup.succeed(0, 0, 10_000);
    assert.equal(setup.standing(0).ejection, undefined);
  });

  it("gets one request on trial, and another one when that ended without a verdict", () => {
    const setup = new Setup();
    const [first] = setup.endpoints as [Endpoint];
    setup.fail(0);
    setup.wait(10_000);
    setup.ejector.ended(first, 9_999);
    assert.equal(setup.standing(0).isOnTrial, true);
    setup.ejector.sent(first, 10_000);
    assert.equal(setup.standing(0).isOnTrial, false);
    setup.ejector.ended(first, 10_000);
    assert.equal(setup.standing(0).isOnTrial, true);
    setup.ejector.sent(first, 10_000);
    setup.succeed(0);
    assert.equal(setup.standing(0).ejection, undefined);
  });

  it("is ejected again from its warm-up", () => {
    const setup = new Setup();
    setup.fail(0);
    setup.wait(10_000);
    setup.succeed(0);
    setup.fail(0);
    assert.equal(setup.isOut(0), true);
    assert.equal(setup.standing(0).ejection!.untilMs - setup.nowMs, 20_000);
  });

  it("that was good for long begins with the shortest ejection again", () => {
    const setup = new Setup(undefined, { warmUpTokens: 1 });
    setup.fail(0);
    setup.wait(10_000);
    setup.succeed(0);
    setup.succeed(0, 10);
    setup.wait(60_500);
    setup.fail(0);
    assert.equal(setup.standing(0).ejection!.untilMs - setup.nowMs, 10_000);
  });
});

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

describe("an endpoint that makes no progress", () => {
  /** Each of them has answered before; these ones get so many requests that they do not answer. */
  const stuckAt = (
    hung: Readonly<Record<number, number>>,
    endpoints?: readonly Endpoint[],
    settings?: Partial<EjectionSettings>,
  ) => {
    const setup = new Setup(endpoints, settings);
    for (const endpoint of setup.endpoints) {
      setup.records.sent(endpoint, true, 0);
      setup.records.firstToken(endpoint, 10, 10);
      setup.records.ended(endpoint, true, 0);
    }
    for (const [index, count] of Object.entries(hung)) for (let n = 0; n < count; n++) setup.hang(Number(index));
    return setup;
  };

  it("is ejected by a sweep, and those who have waited there are cut", () => {
    const setup = stuckAt({ 0: 2 });
    setup.wait(9_000);
    setup.hang(0);
    setup.wait(1_000);
    assert.equal(setup.isOut(0), false);
    assert.deepEqual(setup.cut, []);
    setup.wait(500);
    assert.equal(setup.isOut(0), true);
    assert.deepEqual(setup.cut, ["e0 waiting 10500", "e0 waiting 10500"]);
    setup.wait(4_000);
    assert.deepEqual(setup.cut.slice(2), ["e0 waiting 4500"], "it came later");
  });

  it("loses nobody where the config says no", () => {
    const setup = stuckAt({ 0: 2 }, undefined, { cutWaiting: false });
    setup.wait(40_500);
    assert.deepEqual(setup.cut, []);
  });

  it("loses those who have waited long enough where it may not leave", () => {
    const setup = stuckAt({ 0: 2, 1: 2, 2: 2 });
    setup.wait(10_500);
    assert.deepEqual(
      [0, 1, 2].map((index) => setup.ejector.ejectionsOf(`e${index}`)),
      [1, 1, 0],
    );
    assert.equal(setup.cut.filter((line) => line.startsWith("e2")).length, 2);
  });

  it("loses them where it is out already, for another reason, which is a sign too", () => {
    const setup = stuckAt({ 0: 1 });
    setup.fail(0);
    setup.wait(10_000);
    assert.deepEqual(setup.cut, []);
    setup.wait(500);
    assert.deepEqual(setup.cut, ["e0 waiting 10500"]);
  });

  it("keeps them for half a minute where the others only process prompts for it", () => {
    const setup = stuckAt({ 0: 2 }, [makeEndpoint(0), makeEndpoint(1, { labels: { role: "prefill" } })]);
    setup.wait(29_000);
    assert.deepEqual(setup.cut, []);
    setup.wait(1_500);
    assert.equal(setup.cut.length, 2);
  });

  it("keeps a lone request for half a minute", () => {
    const setup = stuckAt({ 0: 1 });
    setup.wait(29_000);
    assert.equal(setup.ejector.ejectionsOf("e0"), 1, "it leaves all the same: that costs nobody an answer");
    assert.deepEqual(setup.cut, []);
    setup.wait(500);
    assert.deepEqual(setup.cut, ["e0 waiting 29500"]);
  });

  it("loses a lone one soon while its probes fail", () => {
    const setup = stuckAt({ 0: 1 });
    setup.failsProbes.add("e0");
    setup.wait(10_500);
    assert.deepEqual(setup.cut, ["e0 waiting 10500"]);
  });

  it("loses a stream sooner where others get no token either, and keeps it where one alone gets none", () => {
    for (const [waiting, streamCutMs] of [
      [2, 10_500],
      [1, 60_000],
    ] as const) {
      const setup = stuckAt({ 0: waiting });
      setup.hang(0, { isFlowing: true });
      setup.wait(75_000);
      assert.equal(
        setup.cut.find((line) => line.includes("streaming")),
        `e0 streaming ${streamCutMs}`,
      );
    }
  });

  it("loses no stream for its own silence, nor soon for several: agents call tools in parallel", () => {
    for (const [streams, cutMs] of [
      [1, undefined],
      [2, 60_000],
      [8, 60_000],
    ] as const) {
      const setup = stuckAt({});
      for (let n = 0; n < streams; n++) setup.hang(0, { isFlowing: true });
      setup.wait(100_000);
      assert.deepEqual(setup.cut, cutMs === undefined ? [] : Array<string>(streams).fill(`e0 streaming ${cutMs}`));
    }
  });

  it("loses its streams where nothing else goes, because it failed", () => {
    const setup = stuckAt({});
    for (let n = 0; n < 2; n++) setup.hang(0, { isFlowing: true });
    setup.fail(0);
    setup.failsProbes.add("e0");
    setup.wait(10_000);
    assert.deepEqual(setup.cut, []);
    setup.wait(500);
    assert.deepEqual(setup.cut, ["e0 streaming 10500", "e0 streaming 10500"]);
  });

  it("takes a response that comes whole for no sign beside a silent stream", () => {
    const setup = stuckAt({});
    setup.hang(0, { isFlowing: true });
    for (let n = 0; n < 3; n++) setup.hang(0, { isStream: false });
    setup.wait(75_000);
    assert.deepEqual(setup.cut, []);
  });

  it("gives half a minute to those that wait for a target which may have to be loaded first", () => {
    const setup = stuckAt({});
    setup.mostQuietMs = ({ explainedQuietMs }) => explainedQuietMs;
    for (let n = 0; n < 3; n++) setup.hang(0, { target: "adapter" });
    setup.wait(29_500);
    assert.deepEqual([setup.cut, setup.isOut(0)], [[], false]);
    setup.wait(1_000);
    assert.equal(setup.cut.length, 3);
    assert.equal(setup.isOut(0), true);
  });

  it("does not take it for a load that a request waits for a target which has answered", () => {
    const setup = stuckAt({});
    setup.records.hasTarget(setup.endpoints[0]!, "adapter");
    for (let n = 0; n < 3; n++) setup.hang(0, { target: "adapter" });
    setup.wait(10_500);
    assert.equal(setup.cut.length, 3);
  });

  it("loses them where it is the only one, if only streams are under way", () => {
    const setup = stuckAt({ 0: 3 }, makeEndpoints(1));
    setup.isLoading = true;
    setup.wait(40_000);
    assert.deepEqual(setup.cut, [], "it may be loading an adapter");
    setup.isLoading = false;
    setup.wait(500);
    assert.equal(setup.cut.length, 3);
  });

  it("loses nobody where it is the only one, nothing is known of it, or a response that comes whole waits too", () => {
    const unknown = new Setup(makeEndpoints(1));
    unknown.hang(0);
    unknown.wait(100_000);
    assert.deepEqual(unknown.cut, []);
    const whole = stuckAt({ 0: 3 }, makeEndpoints(1));
    whole.hang(0, { isStream: false });
    whole.wait(100_000);
    assert.deepEqual(whole.cut, []);
  });

  it("remembers whom it lost until a byte comes", () => {
    const setup = stuckAt({ 0: 2 });
    setup.wait(10_500);
    setup.hang(0);
    setup.wait(10_500);
    assert.equal(setup.cut.length, 3, "one alone, but not the first");
    setup.lastByteMs.set("e0", setup.nowMs + 1);
    setup.hang(0);
    setup.wait(20_000);
    assert.equal(setup.cut.length, 3);
  });

  it("bounds a response that comes whole, once there is doubt, by how long others take", () => {
    const setup = stuckAt({ 0: 2 });
    for (let n = 0; n < 25; n++) setup.records.tookMs(500);
    setup.wait(10_500);
    setup.hang(0, { isStream: false });
    setup.wait(11_000);
    assert.deepEqual(setup.cut.slice(2), ["e0 waiting 10500"]);
  });

  it("on trial is out again, and its trial is cut like any other request", () => {
    const setup = stuckAt({});
    setup.fail(0);
    setup.wait(10_000);
    assert.equal(setup.standing(0).isOnTrial, true);
    setup.hang(0);
    setup.wait(5_000);
    assert.equal(setup.ejector.ejectionsOf("e0"), 1);
    setup.wait(500);
    assert.equal(setup.ejector.ejectionsOf("e0"), 2);
    setup.wait(5_000);
    assert.deepEqual(setup.cut, ["e0 waiting 10500"]);
  });

  it("on trial costs a silent stream no more than a new request would", () => {
    const setup = stuckAt({});
    setup.hang(0, { isFlowing: true });
    setup.wait(21_000);
    assert.equal(setup.standing(0).isOnTrial, true);
    setup.hang(0);
    setup.wait(29_000);
    assert.equal(setup.ejector.ejectionsOf("e0"), 2);
    assert.deepEqual(setup.cut, []);
  });

  it("on trial is judged from when its first request was sent, however many follow", () => {
    const setup = stuckAt({ 0: 1 });
    const [first] = setup.endpoints as [Endpoint];
    setup.fail(0);
    setup.wait(10_000);
    for (let second = 0; second < 5; second++) {
      setup.records.sent(first, true, setup.nowMs);
      setup.ejector.sent(first, setup.nowMs);
      setup.wait(1_000);
      assert.equal(setup.ejector.ejectionsOf("e0"), 1);
    }
    setup.wait(500);
    assert.equal(setup.ejector.ejectionsOf("e0"), 2);
  });

  it("on trial gets no longer than a detector gives, whatever its history", () => {
    const setup = stuckAt({});
    const [first] = setup.endpoints as [Endpoint];
    // A silence of eight seconds that it recovered from explains one of half a minute.
    setup.records.sent(first, true, 0);
    setup.records.heard(first, 8_000);
    setup.records.ended(first, true, 8_000);
    setup.nowMs = 8_000;
    setup.fail(0);
    setup.wait(10_000);
    setup.records.sent(first, true, setup.nowMs);
    setup.ejector.sent(first, setup.nowMs);
    setup.wait(10_500);
    assert.equal(setup.ejector.ejectionsOf("e0"), 2);
  });
});

describe("when an ejected endpoint is tried", () => {
  const ejected = () => {
    const setup = new Setup();
    setup.fail(0);
    return setup;
  };

  it("not while it fails its probes, however long its time is over; they are asked for", () => {
    const setup = ejected();
    setup.failsProbes.add("e0");
    setup.wait(60_000);
    assert.equal(setup.standing(0).isOnTrial, false);
    assert.ok(setup.probedSoon.includes("e0"));
    setup.failsProbes.clear();
    setup.wait(500);
    assert.equal(setup.standing(0).isOnTrial, true);
  });

  it("at once when it passes a probe after it failed some, whether or not that took it out of service", () => {
    for (const failing of ["failsProbes", "unhealthy"] as const) {
      const setup = ejected();
      setup[failing].add("e0");
      setup.wait(2_000);
      setup[failing].clear();
      setup.wait(500);
      assert.equal(setup.standing(0).isOnTrial, true);
    }
  });

  it("not early again right after a trial that failed: probes may pass and fail in turn", () => {
    const setup = ejected();
    for (const seconds of [1, 9]) {
      setup.failsProbes.add("e0");
      setup.wait(500);
      setup.failsProbes.clear();
      setup.wait(1_000 * seconds);
      if (setup.standing(0).isOnTrial) setup.fail(0, 1);
    }
    assert.equal(setup.ejector.ejectionsOf("e0"), 2);
    setup.wait(2_000);
    assert.equal(setup.standing(0).isOnTrial, true);
  });

  it("at once when tokens come after a silence", () => {
    const setup = new Setup();
    setup.records.sent(setup.endpoints[0]!, true, 0);
    setup.records.firstToken(setup.endpoints[0]!, 10, 10);
    setup.wait(10_500);
    assert.equal(setup.isOut(0), true);
    setup.wait(1_000);
    setup.lastByteMs.set("e0", setup.nowMs);
    setup.wait(500);
    assert.equal(setup.standing(0).isOnTrial, true);
  });

  it("not early to make room while it fails its probes", () => {
    const setup = new Setup();
    for (const index of [0, 1]) setup.fail(index);
    setup.failsProbes.add("e0");
    setup.wait(2_000);
    setup.fail(2);
    assert.deepEqual(
      [0, 1].map((index) => setup.standing(index).isOnTrial),
      [false, true],
    );
  });
});

describe("an endpoint that is new", () => {
  it("has its whole share where all are new", () => assert.equal(new Setup().standing(0).warmUp, 1));

  it("warms up where it joins a pool that has settled", () => {
    const setup = new Setup();
    setup.wait(20_000);
    setup.ejector.follow([...setup.endpoints, makeEndpoint(4)], setup.nowMs);
    assert.equal(setup.ejector.standingOf("e4").warmUp, 0.1);
    assert.equal(setup.standing(0).warmUp, 1);
  });

  it("behind a known name has nothing held against it", () => {
    const setup = new Setup();
    setup.fail(0);
    setup.ejector.follow(
      setup.endpoints.map((endpoint) => ({ ...endpoint, generation: endpoint.generation + 1 })),
      0,
    );
    assert.equal(setup.standing(0).ejection, undefined);
  });
});

it("a detector that throws is logged and says nothing", () => {
  const setup = new Setup();
  const broken = { name: "broken", type: "t", plugin: { detect: () => assert.fail("broken") } };
  const ejector = new Ejector({
    settings: () => DEFAULT_EJECTION,
    detectors: () => [broken, { name: "failing", type: "t", plugin: failing }],
    records: setup.records,
    random: () => 0.5,
    log: silentLog,
    isHealthy: () => true,
    workAheadMs: () => 0,
    isLoading: () => false,
    mayAnswer: () => true,
    tries: { lastByteMs: () => 0, triesAt: () => [] },
    changed() {},
    probePassedMs: () => 0,
    probeSoon() {},
  });
  ejector.follow(setup.endpoints, 0);
  for (let i = 0; i < 3; i++) setup.records.failed(setup.endpoints[0]!, "reset", 0);
  ejector.failed(setup.endpoints[0]!, 0, 0);
  assert.equal(ejector.ejectionsOf("e0"), 1);
});
