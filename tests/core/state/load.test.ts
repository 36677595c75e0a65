import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { LoadTable, MAX_SLOTS } from "../../../core/state/load.ts";

const WORK = { tokens: 10, hasFirstByte: true };

describe("slots", () => {
  test("a name keeps its slot; others get their own", () => {
    const table = new LoadTable();
    assert.deepEqual([table.slotOf("a"), table.slotOf("b"), table.slotOf("a")], [0, 1, 0]);
  });

  test("a retired slot is reused once idle, and its scraped values are unknown again", () => {
    const table = new LoadTable();
    const slot = table.slotOf("a");
    table.scraped(slot, { waiting: 3, running: 2, kvUsage: 0.5 }, 100);
    table.begin(slot, WORK, 0);
    table.retire("a");
    assert.equal(table.slotOf("b"), 1);
    table.end(slot);
    assert.equal(table.slotOf("c"), slot);
    assert.ok([table.waiting, table.running, table.kvUsage, table.scrapedAtMs].every((column) => Number.isNaN(column[slot])));
  });

  test("a name that comes back while its old requests run gets another slot", () => {
    const table = new LoadTable();
    const slot = table.slotOf("a");
    table.begin(slot, WORK, 0);
    table.retire("a");
    assert.equal(table.slotOf("a"), 1);
    table.end(slot);
    assert.equal(table.inFlight[slot], 0);
  });

  test("retiring an unknown name changes nothing", () => {
    const table = new LoadTable();
    table.retire("a");
    assert.equal(table.slotOf("b"), 0);
  });

  test("two names never share a slot, in any order of additions and removals", () => {
    const step = fc.record({ name: fc.nat(30), isThere: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const table = new LoadTable();
        const listed = new Map<number, number>();
        for (const { name, isThere } of steps) {
          if (isThere) listed.set(name, table.slotOf(`r${name}`));
          else {
            table.retire(`r${name}`);
            listed.delete(name);
          }
          assert.equal(new Set(listed.values()).size, listed.size);
        }
      }),
    );
  });

  test("beyond the last slot: an error that names the fix", () => {
    const table = new LoadTable();
    for (let i = 0; i < MAX_SLOTS; i++) table.slotOf(`r${i}`);
    assert.throws(() => table.slotOf("one more"), { name: "RangeError", message: /split the pool/ });
  });
});

describe("scraped values", () => {
  test("are unknown before the first read; a value left out is unknown", () => {
    const table = new LoadTable();
    assert.ok(Number.isNaN(table.waiting[0]) && Number.isNaN(table.scrapedAtMs[0]));
    table.scraped(0, { waiting: 3, kvUsage: 0.5 }, 100);
    table.scraped(0, { waiting: 4 }, 200);
    assert.deepEqual([table.waiting[0], table.scrapedAtMs[0]], [4, 200]);
    assert.ok(Number.isNaN(table.kvUsage[0]));
    table.forgetScrape(0);
    assert.ok(Number.isNaN(table.waiting[0]) && Number.isNaN(table.scrapedAtMs[0]));
  });

  test("have freshness 1 when new, less as they fade, and 0 without any values", () => {
    const table = new LoadTable();
    assert.equal(table.freshness[0], 0);
    table.scraped(0, { waiting: 3 }, 100);
    assert.equal(table.freshness[0], 1);
    table.fade(0, 0.5);
    assert.deepEqual([table.waiting[0], table.freshness[0]], [3, 0.5]);
    table.scraped(0, { waiting: 3 }, 200);
    assert.equal(table.freshness[0], 1);
    table.forgetScrape(0);
    assert.equal(table.freshness[0], 0);
  });

  test("adapter facts are forgotten with the endpoint", () => {
    const table = new LoadTable();
    const slot = table.slotOf("a");
    table.knowAdapters(slot, { names: new Set(["a1"]) });
    table.retire("a");
    assert.equal(table.slotOf("b"), slot);
    assert.equal(table.adapters[slot], undefined);
  });
});
