import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Decision, Leg } from "../../../core/contract/decision.ts";
import { whyPicked } from "../../../core/report/why-picked.ts";
import { makeDecision } from "../../../core/test-kit/records.ts";
import { makeEndpoints } from "../../support/endpoints.ts";

const endpoints = makeEndpoints(5);
const [e0, e1, e2, e3, e4] = [endpoints[0]!, endpoints[1]!, endpoints[2]!, endpoints[3]!, endpoints[4]!];
const byTime = { scores: [{ scorer: "outstanding-work", weight: 1, values: [0.5, 1, 0.2] }], totals: [0.5, 1, 0.2] };
const candidates = [e0, e1, e2];
const unknown = Number.NaN;

describe("why", () => {
  const rows: readonly (readonly [name: string, leg: Partial<Leg & Decision>, why: string])[] = [
    [
      "the default policy, in tokens and milliseconds",
      { ...byTime, estimates: [1_900, 0, 25, 0, 0, 365, 0, 0, 400] },
      "e1: 1,900 of 2,100 prompt tokens are cached there; the next best, e0, would take 340 ms longer.",
    ],
    [
      "of prompts that wait",
      { ...byTime, estimates: [0, 1_234, 25, 0, 90_000, 11_500] },
      "e1: none of 2,100 prompt tokens is cached there and 1,234 tokens of other prompts wait there; the next best, e0, would take 11.5 s longer.",
    ],
    [
      "before any speed was measured",
      { ...byTime, estimates: [1_900, 0, unknown, 200, 0, unknown] },
      "e1: 1,900 of 2,100 prompt tokens are cached there; the next best, e0, has 200 of them.",
    ],
    [
      "without a prefix index",
      { ...byTime, estimates: [unknown, 0, 100, unknown, 0, 140] },
      "e1: the next best, e0, would take 40 ms longer.",
    ],
    [
      "where saved work counts more than this request's own wait",
      { ...byTime, estimates: [1_900, 0, 400, 0, 0, 350] },
      "e1 was best: it scored 1.000, e0 0.500. 1,900 of 2,100 prompt tokens are cached there; the next best, e0, would respond 50 ms sooner.",
    ],
    [
      "several scorers: the one that speaks most for it",
      {
        scores: [
          { scorer: "queue", weight: 1, values: [1, 0.8, 0] },
          { scorer: "cache", weight: 3, values: [0, 1, null], confidences: [1, 0.5, 1] },
        ],
        totals: [0.25, 0.92, 0],
        estimates: [1_900, 0, 25, 0, 0, 365],
      },
      "e1 was best: it scored 0.920, e0 0.250, mostly by cache. 1,900 of 2,100 prompt tokens are cached there; the next best, e0, would take 340 ms longer.",
    ],
    [
      "nothing but the room in the caches",
      { ...byTime, totals: [0.999, 1, 0.2], estimates: [0, 0, 25, 0, 0, 25] },
      "e1 has the emptiest cache, or the oldest prompts in it, of those as fast. None of 2,100 prompt tokens is cached there; the next best, e0, would take as long.",
    ],
    [
      "equally good ones",
      { ...byTime, totals: [1, 1, 0.2], estimates: [0, 0, 25, 0, 0, 25] },
      "e1 was drawn at random from 2 with the same best score (1.000). None of 2,100 prompt tokens is cached there; the next best, e0, would take as long.",
    ],
    [
      "round-robin, compared with the soonest",
      { pickerType: "round-robin", estimates: [unknown, 0, 100, unknown, 0, 90, unknown, 0, 40] },
      "e1 was the next of 3 in turn. e2 would respond 60 ms sooner.",
    ],
    ["random", { pickerType: "random" }, "e1 was drawn at random from 3."],
    ["by the scores", { pickerType: "weighted-random" }, "e1 was drawn at random from 3; its chance, by the scores, was 67%."],
    [
      "by the scores, where all are 0",
      { pickerType: "weighted-random", totals: [0, 0, 0] },
      "e1 was drawn at random from 3; its chance, by the scores, was 33%.",
    ],
    [
      "two choices",
      { pickerType: "power-of-two" },
      "e1 was the better of two drawn at random from 3: it scored 1.000, e0 0.500.",
    ],
    [
      "a user's picker that leaves all others out",
      { picker: "mine", pickerType: "own", order: [e1] },
      "e1 was the choice of the picker mine: it scored 1.000.",
    ],
    [
      "the only one that filters left",
      {
        candidates: [e1],
        order: [e1],
        dropped: [
          { filter: "ready", endpoints: [e0] },
          { filter: "session-affinity-filter", endpoints: [e2, e3, e4, e0] },
        ],
      },
      "e1 was the only candidate of 5: ready dropped e0, session-affinity-filter dropped e2, e3, e4 and 1 more.",
    ],
    ["the only one at all", { endpoints: [e1], candidates: [e1], order: [e1] }, "e1 was the only candidate."],
    ["no opinions", { scores: [], totals: [0, 0, 0] }, "e1 was drawn at random from 3; no scorer had an opinion."],
    ["one on trial", { order: [{ ...e1, isOnTrial: true }, e0] }, "e1 is on trial: this request decides whether it returns."],
    [
      "one where its session has a place",
      { ...byTime, isPlaced: true, order: [e0, e1, e2], estimates: [1_900, 0, 90, 0, 0, 100, 0, 0, 40] },
      "e0: its session has its place there. 1,900 of 2,100 prompt tokens are cached there; e2 would respond 50 ms sooner.",
    ],
    ["no order", { order: [] }, "The picker chose no endpoint."],
  ];
  for (const [name, leg, why] of rows) {
    it(name, () => {
      const decision = makeDecision({ endpoints, candidates, ...leg });
      assert.equal(whyPicked(decision.legs[0], decision.endpoints.length, 2_100), why);
    });
  }
});
