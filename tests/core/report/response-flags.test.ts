import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Attempt, Outcome } from "../../../core/contract/outcome.ts";
import { flagsOf } from "../../../core/report/response-flags.ts";
import { makeAttempt, makeOutcome } from "../../../core/test-kit/records.ts";

const tries = (...results: Attempt["result"][]) => results.map((result, at) => makeAttempt(`e${at}`, result));
const error = (code: string) => ({ code, message: "Why." });

describe("response flags", () => {
  const cases: readonly (readonly [name: string, changes: Partial<Outcome>, flags: readonly string[]])[] = [
    ["none for a response", {}, []],
    ["none for one that another try served", { attempts: tries("connect-failed", 200) }, []],
    ["none for a replica's own error", { status: 500, attempts: tries(500) }, []],
    ["nobody to connect to", { status: 502, error: error("upstream_unreachable"), attempts: tries("connect-failed") }, ["UF"]],
    [
      "nobody of several",
      { status: 502, error: error("upstream_unreachable"), attempts: tries("connect-failed", "connect-timeout") },
      ["UF", "URX"],
    ],
    ["a reset", { status: 502, error: error("upstream_reset"), attempts: tries("reset") }, ["UC"]],
    [
      "a stream that broke off",
      { ending: "broken", error: error("upstream_reset"), attempts: tries(503, "reset") },
      ["UC", "URX"],
    ],
    [
      "a reset, and no connection for another try",
      { status: 502, error: error("upstream_reset"), attempts: tries("reset", "saturated") },
      ["UC"],
    ],
    ["a timeout", { status: 504, error: error("upstream_timeout"), attempts: tries("timeout") }, ["UT"]],
    ["bytes that are not HTTP", { status: 502, error: error("upstream_invalid"), attempts: tries("invalid") }, ["UPE"]],
    ["a replica without progress", { status: 504, error: error("upstream_timeout"), attempts: tries("wedged") }, ["EJ"]],
    ["a response that lacks something", { attempts: tries("malformed") }, ["UM"]],
    ["refusals that are passed on", { status: 503, attempts: tries(503, 503) }, ["URX"]],
    ["a refusal that is passed on at once", { status: 429, attempts: tries(429) }, []],
    ["no replica", { status: 503, error: error("no_ready_endpoint"), attempts: [] }, ["UH"]],
    ["full connections", { status: 429, error: error("saturated"), attempts: tries("saturated", "saturated") }, ["UO"]],
    ["a client that asks too much", { status: 429, error: error("client_saturated"), attempts: [] }, ["RL"]],
    ["no memory", { status: 503, error: error("overloaded"), attempts: [] }, ["OM"]],
    ["no such model", { status: 404, error: error("model_not_found"), attempts: [] }, ["NR"]],
    ["a client that left", { status: 0, ending: "client-left", attempts: tries("aborted") }, ["DC"]],
    ["a slow client", { status: 408, error: error("request_timeout"), attempts: [] }, ["DT"]],
    ["no JSON", { status: 400, error: error("invalid_json"), attempts: [] }, ["DPE"]],
    ["a router that stops", { status: 503, error: error("shutting_down"), attempts: tries("aborted") }, ["SD"]],
    ["a plugin's fault", { status: 500, error: error("plugin_fault"), attempts: [] }, ["IE"]],
    ["a code that nobody knows", { status: 500, error: error("constructor"), attempts: [] }, ["IE"]],
  ];
  for (const [name, changes, flags] of cases) it(name, () => assert.deepEqual(flagsOf(makeOutcome(changes)), flags));
});
