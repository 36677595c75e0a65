import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Detector } from "../../../../core/contract/detector.ts";
import type { Endpoint } from "../../../../core/contract/endpoint.ts";
import { silentLog } from "../../../../core/contract/log.ts";
import { makeEndpoint, makeEndpoints } from "../../../../core/contract/test-kit.ts";
import { DEFAULT_EJECTION, type EjectionSettings } from "../../../../core/features/ejection/ejection-config.ts";
import { Ejector } from "../../../../core/features/ejection/ejector.ts";
import { EndpointRecords } from "../../../../core/features/ejection/endpoint-records.ts";

/** Three failures in a row, and requests that are cut where nothing moves for ten seconds. */
const failing: Detector = {
  detect: ({ consecutiveFailures }) => (consecutiveFailures >= 3 ? `${consecutiveFailures} failures in a row` : undefined),
};
const stuck: Detector = { cutsWaiting: true, detect: ({ quietMs }) => (quietMs > 10_000 ? "nothing moves" : undefined) };

class Setup {
  nowMs = 0;
  readonly endpoints: readonly Endpoint[];
  readonly records = new EndpointRecords();
  readonly changed: string[] = [];
  /** Calls of cutWaiting and of cutStreams: whose requests, and how long they must have been silent. */
  readonly cut: string[] = [];
  readonly cutStreams: string[] = [];
  /** What cutWaiting returns. */
  isAnyWaiting = true;
  isLoading = false;
  readonly logged: string[] = [];
  readonly unhealthy = new Set<string>();
  readonly ejector: Ejector;

  constructor(endpoints: readonly Endpoint[] = makeEndpoints(4), settings: Partial<EjectionSettings> = {}) {
    this.endpoints = endpoints;
    this.ejector = new Ejector({
      settings: () => ({ ...DEFAULT_EJECTION, ...settings }),
      detectors: () => [failing, stuck].map((plugin, index) => ({ name: `d${index}`, type: "test", plugin })),
      records: this.records,
      // In the middle: no jitter.
      random: () => 0.5,
      log: { ...silentLog, warn: (message) => void this.logged.push(message) },
      isHealthy: (name) => !this.unhealthy.has(name),
      workAheadMs: () => 0,
      isLoading: () => this.isLoading,
      lastByteMs: () => Number.NEGATIVE_INFINITY,
      changed: (name) => void this.changed.push(name),
      cutWaiting: ({ name }, leastMs) => {
        this.cut.push(`${name} ${leastMs}`);
        return this.isAnyWaiting;
      },
      cutStreams: ({ name }, leastMs, isWitnessed) => {
        this.cutStreams.push(`${name} ${leastMs}${isWitnessed ? " witnessed" : ""}`);
      },
    });
    this.ejector.follow(endpoints, 0);
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
    assert.equal(setup.cut.at(-1), "e0 0");
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
  /** Each of them has answered before, and got a request at the beginning that these ones do not answer. */
  const stuckAt = (indexes: readonly number[], endpoints?: readonly Endpoint[], settings?: Partial<EjectionSettings>) => {
    const setup = new Setup(endpoints, settings);
    for (const endpoint of setup.endpoints) {
      setup.records.sent(endpoint, true, 0);
      setup.records.firstToken(endpoint, 10, 10);
      setup.records.ended(endpoint, true, 0);
    }
    for (const index of indexes) setup.records.sent(setup.endpoints[index]!, true, 0);
    return setup;
  };

  it("is ejected by a sweep, and all who wait there are cut", () => {
    const setup = stuckAt([0]);
    setup.wait(10_000);
    assert.equal(setup.isOut(0), false);
    assert.deepEqual(setup.cut, []);
    setup.wait(500);
    assert.equal(setup.isOut(0), true);
    assert.deepEqual(setup.cut, ["e0 4500", "e0 0"]);
    assert.deepEqual(setup.cutStreams, ["e0 10000 witnessed"]);
  });

  it("loses nobody where the config says no", () => {
    const setup = stuckAt([0], undefined, { cutWaiting: false });
    setup.wait(20_500);
    assert.deepEqual([setup.cut, setup.cutStreams], [[], []]);
  });

  it("loses those who have waited long enough where it may not leave, and only those", () => {
    const setup = stuckAt([0, 1, 2]);
    setup.wait(10_500);
    assert.deepEqual(
      [0, 1, 2].map((index) => setup.ejector.ejectionsOf(`e${index}`)),
      [1, 1, 0],
    );
    assert.deepEqual(
      setup.cut.filter((line) => line.startsWith("e2")),
      ["e2 4500"],
    );
  });

  it("loses them where it is out already, for another reason", () => {
    const setup = stuckAt([0]);
    setup.fail(0);
    setup.wait(10_000);
    assert.deepEqual(setup.cut, []);
    setup.wait(500);
    assert.deepEqual(setup.cut, ["e0 4500"]);
  });

  it("loses them where it is the only one, if only streams are under way", () => {
    const setup = stuckAt([0], makeEndpoints(1));
    setup.isLoading = true;
    setup.wait(10_500);
    assert.deepEqual(setup.cut, [], "it may be loading an adapter");
    setup.isLoading = false;
    setup.wait(500);
    assert.deepEqual(setup.cut, ["e0 29500"]);
    setup.records.sent(setup.endpoints[0]!, false, setup.nowMs);
    setup.wait(500);
    assert.equal(setup.cut.at(-1), "e0 Infinity");
  });

  it("loses nobody where it is the only one and nothing is known of it", () => {
    const setup = new Setup(makeEndpoints(1));
    setup.records.sent(setup.endpoints[0]!, true, 0);
    setup.wait(10_500);
    assert.deepEqual(setup.cut, ["e0 Infinity"]);
  });

  it("has a witness as long as no byte has come since somebody was given up", () => {
    const setup = stuckAt([0]);
    const [first] = setup.endpoints as [Endpoint];
    setup.wait(10_500);
    setup.isAnyWaiting = false;
    setup.cutStreams.length = 0;
    setup.wait(500);
    assert.deepEqual(setup.cutStreams, ["e0 10000 witnessed"]);
    setup.records.heard(first, setup.nowMs);
    setup.cutStreams.length = 0;
    setup.wait(60_000);
    assert.match(setup.cutStreams[0]!, /^e0 [\d.]+$/);
  });

  it("on trial is out again, and what waits there is cut", () => {
    const setup = new Setup();
    const [first] = setup.endpoints as [Endpoint];
    setup.records.sent(first, true, 0);
    setup.records.firstToken(first, 10, 10);
    setup.records.ended(first, true, 0);
    setup.fail(0);
    // One from before the ejection is still silent, which does not fail a trial that nothing was sent for.
    setup.records.sent(first, true, 0);
    setup.wait(20_000);
    assert.equal(setup.standing(0).isOnTrial, true);
    setup.records.sent(first, true, setup.nowMs);
    setup.ejector.sent(first, setup.nowMs);
    setup.wait(5_000);
    assert.ok(!setup.cut.includes("e0 0"));
    setup.wait(500);
    assert.equal(setup.isOut(0), true);
    assert.equal(setup.cut.at(-1), "e0 0");
  });

  it("on trial is judged from when its first request was sent, however many follow", () => {
    const setup = stuckAt([0]);
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
    const setup = stuckAt([]);
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
    lastByteMs: () => 0,
    changed() {},
    cutWaiting: () => false,
    cutStreams() {},
  });
  ejector.follow(setup.endpoints, 0);
  for (let i = 0; i < 3; i++) setup.records.failed(setup.endpoints[0]!, "reset", 0);
  ejector.failed(setup.endpoints[0]!, 0, 0);
  assert.equal(ejector.ejectionsOf("e0"), 1);
});
