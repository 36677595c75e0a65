import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../../core/contract/endpoint.ts";
import { makeEndpoint, makeEndpoints } from "../../../../core/contract/test-kit.ts";
import type { EjectionSettings } from "../../../../plugins/features/ejection/ejection-config.ts";
import { Setup } from "./ejector-set-up.ts";

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
