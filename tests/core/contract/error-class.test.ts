import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ErrorClass, errorClassOf } from "../../../core/contract/error-class.ts";
import type { Outcome } from "../../../core/contract/outcome.ts";

type Ended = Pick<Outcome, "ending" | "error" | "status">;
const ended = (status: number, code = "", ending: Outcome["ending"] = "complete"): Ended => ({
  ending,
  status,
  error: code === "" ? undefined : { code, message: "Why." },
});

describe("whose fault a failed request is", () => {
  const cases: readonly [name: string, request: Ended, fault: ErrorClass | undefined][] = [
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
