import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { LatencyEstimator } from "../../../core/contract/latency-estimator.ts";
import { expectedLatency, NOTHING_EXPECTED } from "../../../core/stages/expected-latency.ts";
import { LoadTable } from "../../../core/state/load.ts";
import { DEFAULT_RATE } from "../../../core/state/replica-speeds.ts";
import { makeEndpoint, makeRequest } from "../../support/endpoints.ts";

const TOKENS = 8_000;
const OWN_MS = TOKENS / DEFAULT_RATE;
const TARGETS = { firstTokenMs: 100, tokenMs: 10 };
const GOOD: LatencyEstimator = { firstTokenMs: () => 70, tokenMs: () => 7, targets: () => TARGETS };
/** Of an endpoint that computes as fast as is assumed at first. */
function ofKnownSpeed(): LoadTable {
  const load = new LoadTable();
  load.speedOf(0).measured(TOKENS, 0, OWN_MS, 0);
  return load;
}
const fail = (): never => {
  throw new Error("no number");
};

/** What is expected of an idle endpoint, and the faults that were reported. */
function expectedBy(plugin?: LatencyEstimator, promptTokens = TOKENS, load = ofKnownSpeed()) {
  const faults: string[] = [];
  const estimator = plugin && { name: "guess", type: "guess", plugin };
  const report = (name: string, fault: string) => void faults.push(`${name}: ${fault}`);
  const view = load.at(0);
  const expected = expectedLatency({ estimator }, makeRequest({ promptTokens }), makeEndpoint(0), view, { report });
  return { expected, faults };
}

describe("what is expected of a try", () => {
  type Row = readonly [
    name: string,
    expected: object,
    faults: readonly string[],
    plugin?: LatencyEstimator,
    promptTokens?: number,
  ];
  const own = { firstTokenMs: OWN_MS, tokenMs: Number.NaN };
  const rows: readonly Row[] = [
    ["without an estimator, the router's own formula", { ...own, targets: undefined }, []],
    ["with one, its numbers", { firstTokenMs: 70, tokenMs: 7, targets: TARGETS }, [], GOOD],
    ["without a prompt, nothing", NOTHING_EXPECTED, [], GOOD, 0],
    ["if its times throw, the router's own, with its targets", { ...own, targets: TARGETS }, [], { ...GOOD, tokenMs: fail }],
    [
      "if its targets throw, its times without targets; the fault is reported",
      { firstTokenMs: 70, tokenMs: 7, targets: undefined },
      ["guess: no number"],
      { ...GOOD, targets: fail },
    ],
    [
      "if its targets are none, its times without targets",
      { firstTokenMs: 70, tokenMs: 7, targets: undefined },
      [],
      { ...GOOD, targets: (() => "soon") as never },
    ],
  ];
  for (const [name, expected, faults, plugin, promptTokens] of rows) {
    it(name, () => assert.deepEqual(expectedBy(plugin, promptTokens), { expected, faults }));
  }

  it("before its speed is known, nothing by the router's own formula", () => {
    assert.deepEqual(expectedBy(undefined, TOKENS, new LoadTable()).expected, NOTHING_EXPECTED);
  });
});
