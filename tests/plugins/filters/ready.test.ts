import assert from "node:assert/strict";
import { test } from "node:test";
import ready from "../../../plugins/filters/ready.ts";
import { makeEndpoint, makeLoad, makeRequest } from "../../support/endpoints.ts";
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
