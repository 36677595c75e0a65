import assert from "node:assert/strict";
import { test } from "node:test";
import { PhaseTimes } from "../../../core/control/phase-times.ts";
import { makeEndpoint } from "../../support/endpoints.ts";

test("a phase begins when it changes, not when something else does", () => {
  const times = new PhaseTimes();
  times.follow([makeEndpoint(0)], 100);
  times.follow([makeEndpoint(0, { share: 0.5 }), makeEndpoint(1, { phase: "starting" })], 200);
  assert.equal(times.sinceMs("e0"), 100);
  assert.equal(times.sinceMs("e1"), 200);
  times.follow([makeEndpoint(0, { phase: "ejected" }), makeEndpoint(1, { phase: "starting" })], 300);
  assert.equal(times.sinceMs("e0"), 300);
  assert.equal(times.sinceMs("e1"), 200);
});

test("what has left the list is forgotten", () => {
  const times = new PhaseTimes();
  times.follow([makeEndpoint(0)], 100);
  times.follow([], 200);
  assert.equal(times.sinceMs("e0"), Number.NaN);
  times.follow([makeEndpoint(0)], 300);
  assert.equal(times.sinceMs("e0"), 300);
});
