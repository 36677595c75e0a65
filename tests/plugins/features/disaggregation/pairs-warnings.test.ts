import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../../core/contract/endpoint.ts";
import { pairsWarnings } from "../../../../plugins/features/disaggregation/pairs-status.ts";
import { PairsTally } from "../../../../plugins/features/disaggregation/pairs-tally.ts";
import { Roles } from "../../../../plugins/features/disaggregation/roles.ts";
import { makeEndpoint } from "../../../support/endpoints.ts";

const at = (slot: number, role: string, phase: Endpoint["phase"] = "ready") =>
  makeEndpoint(slot, { phase, isAvailable: phase === "ready", labels: { "llm-d.ai/role": role } });

describe("what keeps pairs from being made", () => {
  const ROWS: readonly (readonly [name: string, endpoints: readonly Endpoint[], warnings: readonly RegExp[]])[] = [
    ["nothing", [at(0, "prefill"), at(1, "decode")], []],
    ["nothing, where one does both", [at(0, "both")], []],
    ["no role", [makeEndpoint(0)], [/no endpoint processes prompts/, /no endpoint generates answers/]],
    [
      "nobody for prompts is ready",
      [at(0, "prefill", "not-ready"), at(1, "decode")],
      [/no endpoint that processes prompts \(prefill\) is ready, so each/],
    ],
    [
      "nobody for prompts takes new ones",
      [at(0, "prefill", "draining"), at(1, "decode")],
      [/no endpoint that processes prompts/],
    ],
    [
      "nobody for answers is ready",
      [at(0, "prefill"), at(1, "decode", "ejected")],
      [/no endpoint that generates answers \(decode\) is ready/],
    ],
    ["nobody is ready at all, which another warning says", [at(0, "prefill", "not-ready"), at(1, "decode", "not-ready")], []],
  ];
  for (const [name, endpoints, expected] of ROWS)
    it(`is told: ${name}`, () => {
      const warnings = pairsWarnings(new PairsTally(), new Roles(undefined), endpoints);
      assert.equal(warnings.length, expected.length, warnings.join("\n"));
      for (const [index, warning] of expected.entries()) assert.match(warnings[index]!, warning);
    });

  it("is told: all that were begun have failed", () => {
    const tally = new PairsTally();
    const endpoints = [at(0, "prefill"), at(1, "decode")];
    const told = () => pairsWarnings(tally, new Roles(undefined), endpoints);
    tally.failed = 4;
    tally.causes.set("no transfer parameters", 3).set("reset", 1);
    assert.deepEqual(told(), []);
    tally.failed = 5;
    assert.match(told()[0]!, /all 5 so far have failed \(no transfer parameters\): is spec.disaggregation.transfer/);
    tally.paired = 1;
    assert.deepEqual(told(), []);
  });
});
