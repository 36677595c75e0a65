import assert from "node:assert/strict";
import { test } from "node:test";
import { ClientCounts } from "../../../core/wire/client-counts.ts";

test("each address has a bound of its own", () => {
  const counts = new ClientCounts(2);
  assert.ok(counts.enter("192.0.2.1"));
  assert.ok(counts.enter("192.0.2.1"));
  assert.equal(counts.enter("192.0.2.1"), false);
  assert.ok(counts.enter("192.0.2.2"));
  counts.leave("192.0.2.1");
  assert.ok(counts.enter("192.0.2.1"));
  counts.leave("192.0.2.1");
  counts.leave("192.0.2.1");
  counts.leave("192.0.2.2");
  assert.equal(counts.size, 0, "addresses that have left take no memory");
});

test("a bound of 0 is none, and an unknown address has none", () => {
  for (const [counts, address] of [
    [new ClientCounts(0), "192.0.2.1"],
    [new ClientCounts(1), ""],
  ] as const) {
    for (let n = 0; n < 3; n++) assert.ok(counts.enter(address));
    counts.leave(address);
    assert.equal(counts.size, 0);
  }
});

test("another bound holds for whoever comes next, and those who are here count", () => {
  const counts = new ClientCounts(3);
  for (let n = 0; n < 3; n++) assert.ok(counts.enter("192.0.2.1"));
  const lower = counts.bounded(2);
  counts.leave("192.0.2.1");
  assert.equal(lower.enter("192.0.2.1"), false);
  counts.leave("192.0.2.1");
  assert.ok(lower.enter("192.0.2.1"));
});

test("the first bound counts from 0, and no bound any more forgets nobody who is here", () => {
  const none = new ClientCounts(0);
  none.enter("192.0.2.1");
  const bounded = none.bounded(1);
  none.leave("192.0.2.1");
  assert.ok(bounded.enter("192.0.2.1"), "who came before does not count");
  assert.equal(bounded.enter("192.0.2.1"), false);
  const again = bounded.bounded(0);
  assert.ok(again.enter("192.0.2.1"));
  bounded.leave("192.0.2.1");
  assert.equal(bounded.size, 0);
  assert.equal(again.bounded(0), again);
});
