import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import sessionAffinityScorer from "../../../plugins/scorers/session-affinity-scorer.ts";
import { makeEndpoints, makeHeaders, makeLoad, makeRequest } from "../../support/endpoints.ts";
import { createPlugin } from "../../support/plugins.ts";

const scorer = createPlugin(sessionAffinityScorer);
const pool = makeEndpoints(2);
const tokenOf = (name: string) => Buffer.from(name).toString("base64");

describe("session-affinity-scorer", () => {
  const cases: readonly [name: string, headers: Readonly<Record<string, string>>, scores: readonly number[] | null][] = [
    ["a valid token", { "x-session-token": tokenOf("e1") }, [0, 1]],
    ["no token", {}, null],
    ["garbage", { "x-session-token": "garbage-token" }, null],
    ["an endpoint that is no candidate", { "x-session-token": tokenOf("e7") }, null],
    ["another header", { "x-other": tokenOf("e1") }, null],
  ];
  for (const [name, headers, scores] of cases) {
    it(name, () => assert.deepEqual(scorer.score(makeRequest({ headers: makeHeaders(headers) }), pool, makeLoad(2)), scores));
  }

  it("no candidates", () => {
    const headers = makeHeaders({ "x-session-token": tokenOf("e1") });
    assert.equal(scorer.score(makeRequest({ headers }), [], makeLoad(0)), null);
  });
});

test("the response has the token of its endpoint, in the configured header", () => {
  assert.deepEqual(scorer.responseHeader?.(makeRequest(), pool[1]!), ["x-session-token", tokenOf("e1")]);
  const other = createPlugin(sessionAffinityScorer, { headerName: "X-Session-Token-Prefill" });
  assert.deepEqual(other.responseHeader?.(makeRequest(), pool[0]!), ["x-session-token-prefill", tokenOf("e0")]);
});
