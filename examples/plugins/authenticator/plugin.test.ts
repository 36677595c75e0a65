import assert from "node:assert/strict";
import { test } from "node:test";
import { createPlugin, makeHost } from "signalbox/test-kit";
import plugin from "./plugin.ts";

const host = makeHost();
const clock = { ...host.clock, wall: () => Date.UTC(2030, 5, 15) };
const passes = createPlugin(plugin, { teams: ["search"] }, makeHost({ clock }));
const limits = { requestsPerMinute: 600 };

const cases = [
  { name: "a pass", credential: "pass:search:2030-06-15", who: "search" },
  { name: "another team's", credential: "pass:sales:2030-06-15", who: undefined },
  { name: "something else", credential: "sk-123", who: undefined },
];
for (const { name, credential, who } of cases)
  test(`who shows ${name}`, async () => {
    const principal = await passes.authenticate(credential);
    const expected = who && { name: who, tenant: who, priority: 0, models: undefined, limits };
    assert.deepEqual(principal, expected);
  });

test("a pass of yesterday is refused, with the reason", () => {
  assert.throws(() => passes.authenticate("pass:search:2030-06-14"), /valid until 2030-06-14/);
});

test("refuses parameters that can't be", () => assert.throws(() => createPlugin(plugin, { teams: [] })));
