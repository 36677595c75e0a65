import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PluginSet } from "../../../core/control/plugin-set.ts";
import { PluginSets } from "../../../core/control/plugin-sets.ts";

/** A set that notes its end. */
function makeSet(name: string, events: string[]): PluginSet {
  const note = (what: string) => () => void events.push(`${what} ${name}`);
  // Only its identity and its end matter here.
  return { active: { pool: name }, retire: note("retired"), dispose: note("disposed") } as unknown as PluginSet;
}

function setUp() {
  const events: string[] = [];
  const make = (name: string) => makeSet(name, events);
  const sets = new PluginSets(make("first"));
  return { events, make, sets };
}

describe("a plugin set that was replaced", () => {
  it("ends at once if no request uses it", () => {
    const { events, make, sets } = setUp();
    sets.giveBack(sets.take());
    sets.publish(make("second"));
    assert.deepEqual(events, ["retired first", "disposed first"]);
    assert.equal(sets.take().pool, "second");
  });

  it("ends after the last request that took it", () => {
    const { events, make, sets } = setUp();
    const taken = [sets.take(), sets.take()];
    sets.publish(make("second"));
    const later = sets.take();
    assert.deepEqual([events, later.pool, sets.olderCount], [["retired first"], "second", 1]);
    sets.giveBack(taken[0]!);
    sets.giveBack(later);
    assert.deepEqual(events, ["retired first"]);
    sets.giveBack(taken[1]!);
    assert.deepEqual([events, sets.olderCount], [["retired first", "disposed first"], 0]);
  });

  it("ends on its own, however many came after it", () => {
    const { events, make, sets } = setUp();
    const first = sets.take();
    sets.publish(make("second"));
    const second = sets.take();
    sets.publish(make("third"));
    sets.giveBack(second);
    assert.deepEqual(events, ["retired first", "retired second", "disposed second"]);
    sets.giveBack(first);
    assert.equal(events.at(-1), "disposed first");
  });

  it("ends with the router, once", () => {
    const { events, make, sets } = setUp();
    const first = sets.take();
    sets.publish(make("second"));
    sets.dispose();
    sets.giveBack(first);
    assert.deepEqual(events, ["retired first", "disposed first", "disposed second"]);
  });
});
