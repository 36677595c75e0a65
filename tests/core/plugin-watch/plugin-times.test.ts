import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Profile } from "../../../core/active-config.ts";
import { systemClock } from "../../../core/contract/clock.ts";
import { makeLoad, makeRequest } from "../../../core/contract/test-kit.ts";
import { decide } from "../../../core/decide/decide.ts";
import { PluginTimes } from "../../../core/plugin-watch/plugin-times.ts";
import { factsOf } from "../../../core/state/facts.ts";
import { makeEndpoints, seededRandom } from "../../support/endpoints.ts";
import { usageOf } from "../../support/usage.ts";

const BUDGET_MS = 2;
const FACTS = factsOf(makeEndpoints(2));

type Kind = "filter" | "scorer" | "picker";

/** Decisions with one plugin of each kind; each takes the time that the test says. */
function setUp() {
  let nowMs = 0;
  const logged: string[] = [];
  const tell = (message: string, fields: unknown) => void logged.push(`${message}: ${(fields as { plugin: string }).plugin}`);
  let [cpuMs, waits, preemptions] = [0, 0, 0];
  const clock = { ...systemClock, now: () => nowMs };
  const log = { info: tell, warn: tell, error: tell };
  const times = new PluginTimes(clock, log, () => usageOf(cpuMs, waits, preemptions));
  /** What the time of a plugin is made of: it computes, it waits of itself, or it waits for a processor. */
  const spent: { as: "work" | "wait" | "preempted" } = { as: "work" };
  const tookMs: Record<Kind, number> = { filter: 0, scorer: 0, picker: 0 };
  const asked: Record<Kind, number> = { filter: 0, scorer: 0, picker: 0 };
  const take = <Result>(kind: Kind, result: Result): Result => {
    nowMs += tookMs[kind];
    if (spent.as === "work") cpuMs += tookMs[kind];
    if (spent.as === "wait") waits += 1;
    if (spent.as === "preempted") preemptions += 1;
    asked[kind] += 1;
    return result;
  };
  const profile: Profile = {
    name: "default",
    filters: [{ name: "f", type: "f", plugin: { filter: (_request, candidates) => take("filter", candidates) } }],
    scorers: [
      { name: "s", type: "s", weight: 1, plugin: { score: (_request, candidates) => take("scorer", candidates).map(() => 1) } },
    ],
    picker: { name: "p", type: "p", plugin: { pick: (candidates) => take("picker", candidates) } },
    chosen: [],
    responseHeaders: [],
  };
  times.follow(profile, BUDGET_MS);
  /** So many requests, some time apart; returns in how many the scorer's scores counted. */
  const requests = (count: number, apartMs = 1) => {
    let votes = 0;
    for (let n = 0; n < count; n++) {
      nowMs += apartMs;
      const decision = decide(makeRequest({}), FACTS, times.profileFor(profile, nowMs), makeLoad(2), seededRandom(1));
      votes += decision.legs[0]?.scores.length ?? 0;
    }
    return votes;
  };
  return { times, tookMs, spent, asked, logged, requests };
}

describe("the time of plugins", () => {
  it("within the budget changes nothing", () => {
    const { times, tookMs, asked, logged, requests } = setUp();
    Object.assign(tookMs, { filter: BUDGET_MS, scorer: BUDGET_MS, picker: BUDGET_MS });
    assert.equal(requests(1_000), 1_000);
    assert.deepEqual(asked, { filter: 1_000, scorer: 1_000, picker: 1_000 });
    assert.deepEqual([times.slow, logged], [[], []]);
  });

  it("is added up in the requests in which it is measured", () => {
    const { times, tookMs, requests } = setUp();
    Object.assign(tookMs, { filter: 1, scorer: 2, picker: 0 });
    requests(10, 1_000);
    const shown = times.timed.map(({ kind, name, timedRequests, timedMs }) => [kind, name, timedRequests, timedMs]);
    assert.deepEqual(shown, [
      ["filter", "f", 10, 10],
      ["scorer", "s", 10, 20],
      ["picker", "p", 10, 0],
    ]);
  });

  for (const kind of ["filter", "scorer", "picker"] as const) {
    it(`of a ${kind} over it is named, once`, () => {
      const { times, tookMs, logged, requests } = setUp();
      tookMs[kind] = 3;
      requests(1_000);
      assert.deepEqual(
        times.slow.map(({ kind, name, meanMs }) => [kind, name, Math.round(meanMs)]),
        [[kind, kind.charAt(0), 3]],
      );
      assert.deepEqual(logged, [`A plugin takes more time per request than it may: ${kind.charAt(0)}`]);
    });
  }

  it("over it because the machine is busy is not", () => {
    const { times, tookMs, spent, logged, requests } = setUp();
    Object.assign(tookMs, { filter: 50, scorer: 50, picker: 50 });
    spent.as = "preempted";
    assert.equal(requests(100, 1_000), 100);
    assert.deepEqual([times.slow, logged], [[], []]);
    spent.as = "work";
    requests(20, 1_000);
    assert.equal(times.slow.length, 3, "and what they compute themselves is seen beside it");
  });

  it("over it because it waits for something itself is", () => {
    const { times, tookMs, spent, requests } = setUp();
    tookMs.scorer = 3;
    spent.as = "wait";
    requests(20, 1_000);
    assert.equal(times.slow[0]?.hasNoVote, true);
  });

  it("over it in a few requests is not", () => {
    const { times, tookMs, requests } = setUp();
    for (let round = 0; round < 20; round++) {
      tookMs.scorer = 50;
      requests(1, 100);
      tookMs.scorer = 0;
      requests(4, 100);
    }
    assert.deepEqual(times.slow, []);
  });

  it("of a scorer that stays over it costs its vote, until it is quick again", () => {
    const { times, tookMs, asked, logged, requests } = setUp();
    tookMs.scorer = 3;
    requests(20, 1_000);
    assert.equal(times.slow[0]?.hasNoVote, true);
    const before = asked.scorer;
    assert.equal(requests(160), 0);
    assert.ok(asked.scorer - before <= 12, `${asked.scorer - before} of 160 requests asked it`);
    tookMs.scorer = 0;
    requests(20, 1_000);
    assert.deepEqual(times.slow, []);
    assert.equal(requests(100), 100);
    assert.deepEqual(
      logged.map((line) => line.split(":")[0]),
      [
        "A plugin takes more time per request than it may",
        "A scorer that takes too much time loses its vote until it is faster",
        "A plugin is within its time again",
      ],
    );
  });

  it("of a filter or picker never costs its say", () => {
    const { times, tookMs, asked, requests } = setUp();
    Object.assign(tookMs, { filter: 9, picker: 9 });
    requests(100, 1_000);
    assert.deepEqual(
      times.slow.map(({ hasNoVote }) => hasNoVote),
      [false, false],
    );
    assert.deepEqual(asked, { filter: 100, scorer: 100, picker: 100 });
  });
});
