import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { SPANS, type TrafficHistory } from "../../../../apps/admin/figures/traffic-history.ts";
import { makeOutcome } from "../../../../core/test-kit/records.ts";
import { makeApi, makeRewrite } from "../../../support/api.ts";

test("what requests met, over ten minutes or longer, also before a change of the config", async () => {
  const { ask, figures, clock } = await makeApi();
  for (let i = 0; i < 6; i++) figures.ended(makeOutcome(), clock.now());
  assert.equal((await ask("PUT", "/rewrites/food", { body: makeRewrite("food", { v1: 1 }) })).status, 200);
  await clock.advance(24 * 60_000);
  const shown = async (query: string) => (await ask("GET", `/traffic${query}`)).json as unknown as TrafficHistory;
  assert.deepEqual(await shown(""), await shown("?span=10m"));
  const { stepS, requestsPerS } = await shown("?span=24h");
  assert.equal(stepS, 720);
  assert.ok(Math.abs(requestsPerS[0]! * 720 - 6) < 1e-9);
});

describe("an unknown span is refused with those that there are", () => {
  for (const span of ["1h", "", "constructor"])
    it(JSON.stringify(span), async () => {
      const { ask } = await makeApi();
      const { status, json } = await ask("GET", `/traffic?span=${span}`);
      assert.deepEqual([status, json["code"], json["detail"]], [400, "bad_query", `span wants one of ${SPANS.join(", ")}.`]);
    });
});
