import assert from "node:assert/strict";
import { test } from "node:test";
import { createPlugin, makeRoom, makeWaiting } from "signalbox/test-kit";
import plugin from "./plugin.ts";

const requests = [
  makeWaiting({ id: "long", tokens: 5_000, sinceMs: 0 }),
  makeWaiting({ id: "short", tokens: 100, sinceMs: 1_000 }),
  makeWaiting({ id: "middle", tokens: 900, sinceMs: 2_000, model: "other" }),
];

const cases = [
  { name: "the shortest goes first", nowMs: 5_000, isFor: () => true, order: ["short", "middle", "long"] },
  { name: "who has waited long goes before", nowMs: 10_500, isFor: () => true, order: ["long", "short", "middle"] },
  { name: "without room nobody goes", nowMs: 5_000, isFor: () => false, order: [] },
];
for (const { name, nowMs, isFor, order } of cases)
  test(name, () => {
    const line = createPlugin(plugin);
    for (const request of requests) line.join(request);
    const taken = requests.map(() => line.take(makeRoom({ nowMs, isFor }))?.id);
    assert.deepEqual(
      taken.filter((id) => id !== undefined),
      order,
    );
  });

test("one that left is not taken", () => {
  const line = createPlugin(plugin);
  for (const request of requests) line.join(request);
  line.leave(requests[1]!);
  assert.equal(line.take(makeRoom())?.id, "middle");
});

test("the largest is sent away", () => {
  const line = createPlugin(plugin);
  for (const request of requests) line.join(request);
  assert.equal(line.least(makeWaiting({ id: "new", tokens: 10 })).id, "long");
  assert.equal(line.least(makeWaiting({ id: "new", tokens: 9_000 })).id, "new");
});

test("refuses parameters that can't be", () => assert.throws(() => createPlugin(plugin, { patienceMs: -1 })));
