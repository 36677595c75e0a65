import assert from "node:assert/strict";
import { test } from "node:test";
import { checkProperties, createPlugin, explain, makeHeaders, makeRequest, testPool } from "signalbox/test-kit";
import plugin from "./plugin.ts";

const pool = testPool({ gold1: { labels: { tier: "gold" } }, gold2: { labels: { tier: "gold" } }, other: {} });
const asking = (tier: string) => makeRequest({ headers: makeHeaders({ "x-tier": tier }) });

const cases = [
  { name: "a request without the header may go anywhere", request: makeRequest(), dropped: [] },
  { name: "others stay with their tier", request: asking("gold"), dropped: ["other"] },
  { name: "a tier that nobody has leaves none", request: asking("lead"), dropped: ["gold1", "gold2", "other"] },
];
for (const { name, request, dropped } of cases)
  test(name, () => assert.deepEqual(explain(createPlugin(plugin), request, pool).dropped, dropped));

test("says why a request is refused", () =>
  assert.match(explain(createPlugin(plugin), asking("lead"), pool).refusal?.message ?? "", /x-tier/));

test("keeps what every filter promises", () => checkProperties(plugin));
