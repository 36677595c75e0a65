import assert from "node:assert/strict";
import { test } from "node:test";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { InferenceRequest } from "../../../core/contract/request.ts";
import ready from "../../../plugins/filters/ready.ts";
import { makeEndpoint, makeHeaders, makeLoad, makeRequest } from "../../support/endpoints.ts";
import { createPlugin } from "../../support/plugins.ts";

const filter = createPlugin(ready);
const pool = [makeEndpoint(0, { phase: "starting" }), makeEndpoint(1), makeEndpoint(2, { phase: "not-ready" }), makeEndpoint(3)];

test("only ready endpoints stay", () => {
  assert.deepEqual(filter.filter(makeRequest(), pool, makeLoad(4), Math.random), [pool[1], pool[3]]);
});

test("the refusal counts the endpoints in each other phase", () => {
  const error = filter.refuse!(makeRequest(), [pool[0]!, makeEndpoint(5, { phase: "starting" }), pool[2]!]);
  assert.deepEqual([error.code, error.status, error.retryAfterS], ["no_ready_endpoint", 503, 1]);
  assert.match(error.message, /2 starting, 1 not ready/);
  assert.match(error.message, /try again shortly/);
});

test("a draining endpoint stays for a session on it, while it takes sessions", () => {
  const token = { "x-session-token": Buffer.from("e0").toString("base64") };
  const ofSession = makeRequest({ headers: makeHeaders(token) });
  const draining = (stillTakes: "sessions" | "nothing") => [makeEndpoint(0, { phase: "draining", stillTakes }), makeEndpoint(1)];
  const namesFor = (request: InferenceRequest, endpoints: readonly Endpoint[]) =>
    filter.filter(request, endpoints, makeLoad(2), Math.random).map(({ name }) => name);
  assert.deepEqual(namesFor(ofSession, draining("sessions")), ["e0", "e1"]);
  assert.deepEqual(namesFor(makeRequest(), draining("sessions")), ["e1"]);
  assert.deepEqual(namesFor(ofSession, draining("nothing")), ["e1"]);
});

test("a cordoned endpoint stays only for what no available one serves", () => {
  const cordoned = makeEndpoint(0, { phase: "cordoned", stillTakes: "unserved", models: ["base", "rare"] });
  const namesFor = (target: string, others: readonly Endpoint[]) =>
    filter.filter(makeRequest({ target }), [cordoned, ...others], makeLoad(3), Math.random).map(({ name }) => name);
  const available = [makeEndpoint(1)];
  const starting = [makeEndpoint(2, { phase: "starting" })];
  assert.deepEqual(namesFor("base", available), ["e1"]);
  assert.deepEqual(namesFor("rare", available), ["e0", "e1"]);
  assert.deepEqual(namesFor("unknown", available), ["e1"]);
  assert.deepEqual(namesFor("base", starting), ["e0"]);
  assert.deepEqual(namesFor("", available), ["e1"]);
  assert.deepEqual(namesFor("", starting), ["e0"]);
});
