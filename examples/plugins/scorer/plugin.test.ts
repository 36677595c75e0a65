import assert from "node:assert/strict";
import { test } from "node:test";
import { checkProperties, createPlugin, explain, makeRequest, testPool } from "signalbox/test-kit";
import plugin from "./plugin.ts";

const cases = [
  { name: "an idle endpoint is best", pool: { busy: { inFlight: 3 }, idle: {} }, order: ["idle", "busy"] },
  { name: "equal endpoints stay in their order", pool: { one: {}, other: {} }, order: ["one", "other"] },
];
for (const { name, pool, order } of cases)
  test(name, () => assert.deepEqual(explain(createPlugin(plugin), makeRequest(), testPool(pool)).order, order));

test("scores one half at the number that is set", () => {
  const { scores } = explain(createPlugin(plugin, { half: 4 }), makeRequest(), testPool({ busy: { inFlight: 4 }, idle: {} }));
  assert.deepEqual(scores, { busy: 0.5, idle: 1 });
});

test("keeps what every scorer promises", () => checkProperties(plugin));

test("refuses parameters that can't be", () => assert.throws(() => createPlugin(plugin, { half: 0 })));
