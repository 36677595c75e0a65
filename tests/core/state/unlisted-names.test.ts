import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { UnlistedNames } from "../../../core/state/unlisted-names.ts";

const SLOT = 3;

describe("a name that an endpoint does not list", () => {
  it("is loading from the first request until it is served, then served for a while", () => {
    const names = new UnlistedNames();
    assert.equal(names.at(SLOT, "v1", 0), undefined);
    const use = names.sent(SLOT, "v1", 0);
    assert.deepEqual(names.at(SLOT, "v1", 500), { standing: "loading", leftMs: 1500 });
    assert.deepEqual(names.at(SLOT, "v1", 3_000), { standing: "loading", leftMs: 0 });
    names.served(SLOT, "v1", 3_000);
    names.ended(use);
    assert.deepEqual(names.at(SLOT, "v1", 12_999), { standing: "served", leftMs: 0 });
    assert.equal(names.at(SLOT, "v1", 13_000), undefined);
  });

  it("is not loading any more when its last request has ended without a response", () => {
    const names = new UnlistedNames();
    const uses = [names.sent(SLOT, "v1", 0), names.sent(SLOT, "v1", 10)];
    names.ended(uses[0]!);
    assert.equal(names.at(SLOT, "v1", 20)?.standing, "loading");
    names.ended(uses[1]!);
    assert.equal(names.at(SLOT, "v1", 20), undefined);
  });

  it("is not waited for without end", () => {
    const names = new UnlistedNames();
    names.sent(SLOT, "v1", 0);
    assert.equal(names.at(SLOT, "v1", 10_000)?.standing, "loading");
    assert.equal(names.at(SLOT, "v1", 10_001), undefined);
  });

  it("rests after each refusal twice as long as after the one before, up to a minute", () => {
    const names = new UnlistedNames();
    const rests: number[] = [];
    let nowMs = 0;
    for (let i = 0; i < 7; i++) {
      names.refused(SLOT, "v1", nowMs);
      const rest = names.at(SLOT, "v1", nowMs);
      assert.equal(rest?.standing, "refused");
      rests.push(rest?.leftMs ?? 0);
      nowMs += rest?.leftMs ?? 0;
      assert.equal(names.at(SLOT, "v1", nowMs), undefined);
    }
    assert.deepEqual(rests, [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  });

  it("counts the refusals of requests that were under way together once", () => {
    const names = new UnlistedNames();
    for (let i = 0; i < 20; i++) names.refused(SLOT, "v1", i);
    assert.deepEqual(names.at(SLOT, "v1", 1_000), { standing: "refused", leftMs: 1_000 });
  });

  it("rests briefly again when its refusals are long past, or when it was served since", () => {
    for (const between of ["nothing", "served"] as const) {
      const names = new UnlistedNames();
      for (const atMs of [0, 2_000, 6_000]) names.refused(SLOT, "v1", atMs);
      if (between === "served") names.served(SLOT, "v1", 14_000);
      const nowMs = between === "served" ? 15_000 : 75_000;
      names.refused(SLOT, "v1", nowMs);
      assert.deepEqual(names.at(SLOT, "v1", nowMs), { standing: "refused", leftMs: 2_000 }, between);
    }
  });

  it("does not rest any more when all refusals are forgotten", () => {
    const names = new UnlistedNames();
    for (const atMs of [0, 2_000]) names.refused(SLOT, "v1", atMs);
    names.forgetRefusals();
    assert.equal(names.at(SLOT, "v1", 2_001), undefined);
    names.refused(SLOT, "v1", 2_001);
    assert.equal(names.at(SLOT, "v1", 2_001)?.leftMs, 2_000);
  });

  it("is known of its own endpoint only, and not of the replica that has the slot next", () => {
    const names = new UnlistedNames();
    const use = names.sent(SLOT, "v1", 0);
    names.refused(SLOT, "v2", 0);
    assert.equal(names.at(SLOT + 1, "v2", 0), undefined);
    names.forgetSlot(SLOT);
    assert.equal(names.at(SLOT, "v1", 0), undefined);
    assert.equal(names.at(SLOT, "v2", 0), undefined);
    names.ended(use);
    names.sent(SLOT, "v1", 0);
    assert.equal(names.at(SLOT, "v1", 0)?.standing, "loading");
  });

  it("is forgotten when there are too many; the newest are kept", () => {
    const names = new UnlistedNames();
    for (let i = 0; i < 10_000; i++) names.refused(SLOT, `name-${i}`, 0);
    assert.equal(names.at(SLOT, "name-0", 0), undefined);
    assert.equal(names.at(SLOT, "name-9743", 0), undefined);
    for (let i = 9744; i < 10_000; i++) assert.equal(names.at(SLOT, `name-${i}`, 0)?.standing, "refused");
  });
});

it("what is being loaded stays known among ten thousand other names", () => {
  const names = new UnlistedNames();
  names.sent(SLOT, "v1", 0);
  for (let i = 0; i < 10_000; i++) {
    const use = names.sent(SLOT, `name-${i}`, 0);
    names.refused(SLOT, `name-${i}`, 0);
    names.ended(use);
  }
  assert.equal(names.at(SLOT, "v1", 0)?.standing, "loading");
  assert.equal(names.at(SLOT, "name-0", 0), undefined);
});

describe("how long a load takes", () => {
  it("follows what was measured; a time that holds more than the load can only lower it", () => {
    const names = new UnlistedNames();
    assert.equal(names.adapterLoadMs, 2_000);
    for (let i = 0; i < 30; i++) names.loaded(500, true);
    assert.ok(Math.abs(names.adapterLoadMs - 500) < 1, `${names.adapterLoadMs}`);
    names.loaded(9_000, false);
    assert.ok(names.adapterLoadMs < 501);
    names.loaded(200, false);
    assert.equal(names.adapterLoadMs, 200);
    for (let i = 0; i < 60; i++) names.loaded(Number.MAX_VALUE, true);
    assert.ok(names.adapterLoadMs <= 60_000);
    for (let i = 0; i < 60; i++) names.loaded(-5, true);
    assert.ok(names.adapterLoadMs >= 1);
  });
});
