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
