import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../../core/contract/endpoint.ts";
import { silentLog } from "../../../../core/contract/log.ts";
import { makeEndpoint, makeEndpoints } from "../../../../core/contract/test-kit.ts";
import { DEFAULT_EJECTION } from "../../../../plugins/features/ejection/ejection-config.ts";
import { Ejector } from "../../../../plugins/features/ejection/ejector.ts";
import { failing, Setup } from "./ejector-set-up.ts";

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
