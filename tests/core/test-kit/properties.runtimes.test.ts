import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { defineFilter, definePicker, defineScorer } from "../../../core/contract/plugin.ts";
import { checkProperties } from "../../../core/test-kit.ts";

const scorer = (score: (candidates: readonly Endpoint[]) => number[]) =>
  defineScorer({ type: "mine", summary: "", create: () => ({ score: (_request, candidates) => score(candidates) }) });

describe("checkProperties finds", () => {
  let calls = 0;
  const cases = [
    [
      "a score beyond 1",
      scorer((all) => all.map(() => 1.5)),
      /The scorer "mine", with 1 endpoints, .*: Score 1\.5 is not in \[0, 1\]/,
    ],
    ["a score that is no number", scorer((all) => all.map(() => Number.NaN)), /Score NaN/],
    ["too few scores", scorer((all) => all.slice(1).map(() => 1)), /Returned 0 scores for 1 candidates/],
    ["scores that change by themselves", scorer((all) => all.map(() => 1 / ++calls)), /The same inputs gave another result/],
    [
      "a scorer that changes an endpoint",
      scorer((all) => {
        for (const one of all) Object.assign(one, { phase: "ready" });
        return all.map(() => 1);
      }),
      /read.?only/i,
    ],
    [
      "a filter that keeps what it was not given",
      defineFilter({ type: "mine", summary: "", create: () => ({ filter: (_request, all) => [...all, ...all] }) }),
      /some of the candidates in their order/,
    ],
    [
      "a picker that leaves candidates out",
      definePicker({ type: "mine", summary: "", create: () => ({ pick: (candidates) => candidates.slice(0, 1) }) }),
      /each candidate: the last ones are spares/,
    ],
  ] as const;
  for (const [name, definition, message] of cases) it(name, () => assert.throws(() => checkProperties(definition), message));
});
