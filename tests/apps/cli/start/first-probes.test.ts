import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { firstProbes } from "../../../../apps/cli/start/first-probes.ts";
import { makeEndpoint } from "../../../../core/contract/test-kit.ts";
import { factsOf } from "../../../../core/state/facts.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { makeShownRouter } from "../../../support/view.ts";

/** A wait for the given replicas: "" for one that has no result yet, "ready", or why its probe failed. */
function setUp(results: readonly string[]) {
  const now = [...results];
  const endpoints = () => now.map((result, slot) => makeEndpoint(slot, { phase: result === "ready" ? "ready" : "starting" }));
  const router = makeShownRouter([], { control: { probeFailure: ({ slot }) => (now[slot] === "ready" ? "" : now[slot]!) } });
  Object.defineProperty(router.pool, "facts", { get: () => factsOf(endpoints()) });
  const clock = new FakeClock();
  const noted: number[] = [];
  let endedMs: number | undefined;
  let isWhole: boolean | undefined;
  let interrupt = () => {};
  const interrupted = new Promise<void>((resolve) => {
    interrupt = resolve;
  });
  void firstProbes(router, clock, interrupted, (count) => noted.push(count)).then((result) => {
    endedMs = clock.now();
    isWhole = result;
  });
  return { clock, now, noted, interrupt: () => interrupt(), endedMs: () => endedMs, isWhole: () => isWhole };
}

describe("the wait for first probes", () => {
  it("ends when every replica has a result, good or bad", async () => {
    const wait = setUp(["ready", "", "refused"]);
    await wait.clock.advance(100);
    assert.equal(wait.endedMs(), undefined);
    wait.now[1] = "timeout";
    await wait.clock.advance(100);
    assert.ok(wait.endedMs()! <= 110);
    assert.deepEqual(wait.noted, []);
    assert.equal(wait.isWhole(), true);
  });

  it("is noted once when it takes long, and ends after two seconds", async () => {
    const wait = setUp(["ready", "", ""]);
    await wait.clock.advance(5_000);
    assert.deepEqual(wait.noted, [2]);
    assert.ok(wait.endedMs()! >= 2_000 && wait.endedMs()! < 2_020);
  });

  it("goes on while discovery has found nothing", async () => {
    const wait = setUp([]);
    await wait.clock.advance(600);
    assert.deepEqual(wait.noted, [0]);
    wait.now.push("ready");
    await wait.clock.advance(20);
    assert.ok(wait.endedMs()! > 400);
  });

  it("ends at a signal to stop", async () => {
    const wait = setUp([""]);
    await wait.clock.advance(100);
    wait.interrupt();
    await wait.clock.advance(20);
    assert.ok(wait.endedMs()! < 200);
    assert.equal(wait.isWhole(), false);
  });
});
