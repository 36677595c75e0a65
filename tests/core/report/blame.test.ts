import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ErrorCode, RouterError } from "../../../core/contract/errors.ts";
import type { Attempt, Outcome } from "../../../core/contract/outcome.ts";
import {
  type Blame,
  blameOf,
  type ErrorClass,
  errorClassOf,
  type TryVerdict,
  verdictOf,
  wasServed,
} from "../../../core/report/blame.ts";
import { makeOutcome } from "../../../core/test-kit/records.ts";

describe("who kept a request from what it asked for", () => {
  const cases: readonly [name: string, outcome: Partial<Outcome>, code: ErrorCode | undefined, Blame][] = [
    ["it was served", { status: 200, ending: "complete" }, undefined, "nobody"],
    ["a replica's 400", { status: 400, ending: "complete" }, undefined, "client"],
    ["a replica's 429", { status: 429, ending: "complete" }, undefined, "replica"],
    ["a replica's 500", { status: 500, ending: "complete" }, undefined, "replica"],
    ["the client left", { status: 0, ending: "client-left" }, undefined, "client"],
    ["the client left a stream", { status: 200, ending: "client-left" }, undefined, "client"],
    ["a stream broke", { status: 200, ending: "broken" }, "upstream_reset", "replica"],
    ["no JSON", { status: 400, ending: "complete" }, "invalid_json", "client"],
    ["a client with too many requests", { status: 429, ending: "complete" }, "client_saturated", "client"],
    ["an unknown model", { status: 404, ending: "complete" }, "model_not_found", "client"],
    ["no replica is ready", { status: 503, ending: "complete" }, "no_ready_endpoint", "router"],
    ["all connections are in use", { status: 429, ending: "complete" }, "saturated", "router"],
    ["a plugin failed", { status: 500, ending: "complete" }, "plugin_fault", "router"],
    ["no replica could be reached", { status: 502, ending: "complete" }, "upstream_unreachable", "replica"],
  ];
  for (const [name, outcome, code, blame] of cases) {
    const error = code && { code, message: "" };
    it(name, () => assert.equal(blameOf(makeOutcome({ ...outcome, error })), blame));
  }

  it("a response that lacks what its API's have: the replica's", () => {
    const attempts = [{ endpoint: "e0", result: "malformed", startedMs: 0, endedMs: 1 }] as const;
    const outcome = makeOutcome({ attempts });
    assert.deepEqual(
      [blameOf(outcome), errorClassOf(outcome), blameOf({ ...outcome, ending: "client-left" })],
      ["replica", "replica", "client"],
    );
  });

  const said: readonly (readonly [result: number, Blame, ErrorClass])[] = [
    [400, "client", "client"],
    [422, "client", "client"],
    [429, "replica", "replica"],
  ];
  for (const [result, blame, errorClass] of said)
    it(`an error of status ${result} inside of a 200: as one of that status`, () => {
      const attempts = [{ endpoint: "e0", result, startedMs: 0, endedMs: 1 }];
      const outcome = makeOutcome({ attempts });
      assert.deepEqual([blameOf(outcome), errorClassOf(outcome), wasServed(outcome)], [blame, errorClass, false]);
    });

  it("a status that a later try made good says nothing", () => {
    const attempts = [503, 200].map((result) => ({ endpoint: "e0", result, startedMs: 0, endedMs: 1 }));
    const outcome = makeOutcome({ attempts });
    assert.deepEqual([blameOf(outcome), wasServed(outcome)], ["nobody", true]);
  });

  it("every code of the router with a status of 500 and above is the replicas' or its own", () => {
    const codes: readonly ErrorCode[] = [
      "internal_error",
      "overloaded",
      "target_unavailable",
      "shutting_down",
      "upstream_timeout",
    ];
    for (const code of codes) {
      const { status } = new RouterError(code, "");
      assert.notEqual(blameOf(makeOutcome({ status, error: { code, message: "" } })), "client", code);
    }
  });
});

describe("what a try says of its endpoint", () => {
  const cases: readonly [result: Attempt["result"], TryVerdict][] = [
    [200, "fine"],
    [404, "fine"],
    [429, "refused"],
    [503, "refused"],
    [500, "failed"],
    ["reset", "failed"],
    ["connect-failed", "failed"],
    ["malformed", "failed"],
    ["wedged", "failed"],
    ["stale", "fine"],
    ["aborted", "fine"],
    ["saturated", "fine"],
    ["removed", "fine"],
  ];
  for (const [result, verdict] of cases) it(String(result), () => assert.equal(verdictOf(result), verdict));
});

const ended = (status: number, code = "", ending: Outcome["ending"] = "complete"): Outcome =>
  makeOutcome({ ending, status, error: code === "" ? undefined : { code, message: "Why." } });

describe("whose fault a failed request is", () => {
  const cases: readonly [name: string, request: Outcome, fault: ErrorClass | undefined][] = [
    ["a response", ended(200), undefined],
    ["a redirect of the replica's", ended(307), undefined],
    ["a client that left", ended(0, "", "client-left"), undefined],
    ["a 400 of the replica's", ended(400), "client"],
    ["a 429 of the replica's", ended(429), "replica"],
    ["a 500 of the replica's", ended(500), "replica"],
    ["a body that is no JSON", ended(400, "invalid_json"), "client"],
    ["a model that nobody has", ended(404, "model_not_found"), "client"],
    ["too many requests of one client", ended(429, "client_saturated"), "client"],
    ["no connection to spare", ended(429, "saturated"), "router"],
    ["no memory to spare", ended(503, "overloaded"), "router"],
    ["a plugin that throws", ended(500, "plugin_fault"), "router"],
    ["a router that stops", ended(200, "shutting_down", "broken"), "router"],
    ["a replica that can't be reached", ended(502, "upstream_unreachable"), "replica"],
    ["a stream that broke", ended(200, "upstream_reset", "broken"), "replica"],
    ["no replica is ready", ended(503, "no_ready_endpoint"), "replica"],
  ];
  for (const [name, request, fault] of cases) it(name, () => assert.equal(errorClassOf(request), fault));
});
