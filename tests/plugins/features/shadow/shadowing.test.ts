import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Profile } from "../../../../core/active-config.ts";
import { systemClock } from "../../../../core/contract/clock.ts";
import type { Endpoint } from "../../../../core/contract/endpoint.ts";
import type { LoadView } from "../../../../core/contract/load-view.ts";
import type { Random } from "../../../../core/contract/profile-plugin.ts";
import { makeLoad, makeRequest } from "../../../../core/contract/test-kit.ts";
import { decide } from "../../../../core/decide/decide.ts";
import { factsOf } from "../../../../core/state/facts.ts";
import { Shadowing } from "../../../../plugins/features/shadow/shadowing.ts";
import { makeEndpoints, makePrefix } from "../../../support/endpoints.ts";
import { MemoryParts, makeRun } from "../../../support/memory-parts.ts";

const FACTS = factsOf(makeEndpoints(3));
const REQUEST = makeRequest({ promptTokens: 1000, prefix: makePrefix(10, 100, [0, 4, 0]) });
// e0 has nothing to do, e1 holds a part of the prompt behind a queue, e2 is slow.
const LOAD = makeLoad(3, { remainingPrefill: [0, 2400, 0], prefillRate: [10, 10, 2] });

/** Tries the endpoint of this slot first; what a decision takes is added to the clock by `before`. */
function profileOf(name: string, slot: number | ((random: Random) => number), before = () => {}): Profile {
  const pick = (candidates: readonly Endpoint[], _totals: ArrayLike<number>, random: Random) => {
    before();
    const first = candidates[typeof slot === "number" ? slot : slot(random)]!;
    return [first, ...candidates.filter((candidate) => candidate !== first)];
  };
  return { name, filters: [], scorers: [], picker: { name: "p", type: "p", plugin: { pick } }, chosen: [], responseHeaders: [] };
}

function setUp(shadow: Profile, percent = 100) {
  let nowMs = 0;
  const faults: string[] = [];
  const clock = { ...systemClock, now: () => nowMs };
  const shadowing = new Shadowing(clock, { report: (plugin, fault) => void faults.push(`${plugin}: ${fault}`) });
  const use = (name: string, share: number) => shadowing.useShadow({ name, plugins: [], percent: share });
  use(shadow.name, percent);
  const parts = new MemoryParts();
  parts.config = { ...parts.config, others: new Map([["shadow", shadow]]) };
  const run = (profile: Profile, random: Random = () => 0.5, load: LoadView = LOAD) => {
    const asked = makeRun(parts, "{}");
    const decision = shadowing.decide(asked, {
      request: REQUEST,
      load,
      profile,
      random,
      decide: (one: Profile, drawn: Random) => decide(REQUEST, FACTS, one, load, drawn),
    });
    return { decision, choice: asked.ticket.shadow };
  };
  return {
    shadowing,
    use,
    run,
    faults,
    pass(ms: number): void {
      nowMs += ms;
    },
  };
}

describe("what a shadow's choice is expected to cost", () => {
  // Milliseconds to the first token: e0 (0 + 1000) / 10 = 100, e1 (2400 + 600) / 10 = 300, e2 (0 + 1000) / 2 = 500.
  const cases: readonly (readonly [own: number, shadow: number, differenceMs: number])[] = [
    [0, 0, 0],
    [0, 1, 200],
    [0, 2, 400],
    [2, 1, -200],
    [1, 0, -200],
  ];
  for (const [own, shadow, differenceMs] of cases) {
    it(`e${shadow} instead of e${own}: ${differenceMs} ms`, () => {
      const { run, shadowing } = setUp(profileOf("candidate", shadow));
      const { decision, choice } = run(profileOf("default", own));
      assert.equal(decision.legs[0]?.order[0]?.slot, own);
      assert.deepEqual(choice, {
        profile: "candidate",
        endpoint: `e${shadow}`,
        refusal: "",
        isSame: own === shadow,
        differenceMs,
      });
      const { addedMs, savedMs } = shadowing.counts!;
      assert.deepEqual([addedMs, savedMs], [Math.max(0, differenceMs), Math.max(0, -differenceMs)]);
    });
  }
});

it("the shadow draws the same random numbers, and new ones behind them", () => {
  let last = -0.25;
  const random = () => {
    last += 0.25;
    return last;
  };
  const drawer = (name: string, seen: number[], count: number) =>
    profileOf(name, (drawn) => {
      for (let n = 0; n < count; n++) seen.push(drawn());
      return 0;
    });
  const [own, shadows]: [number[], number[]] = [[], []];
  const { run } = setUp(drawer("candidate", shadows, 3));
  run(drawer("default", own, 2), random);
  assert.deepEqual(shadows.slice(0, 2), own);
  assert.equal(shadows[2], 0.5);
});

it("a share of the requests", () => {
  const { run, shadowing } = setUp(profileOf("candidate", 1), 25);
  for (let n = 0; n < 100; n++) run(profileOf("default", 0), () => n / 100);
  assert.equal(shadowing.counts?.decisions, 25);
});

it("takes a tenth of the time, with a little saved up", () => {
  let pass = (_ms: number) => {};
  const made = setUp(profileOf("candidate", 1, () => pass(60)));
  pass = made.pass;
  const taken: boolean[] = [];
  for (let n = 0; n < 8; n++) {
    taken.push(made.run(profileOf("default", 0)).choice !== undefined);
    made.pass(100);
  }
  // Of the 100 ms saved up each decision uses 60; a tenth of the time that passes comes back.
  assert.deepEqual(taken, [true, true, true, false, false, false, false, true]);
  assert.deepEqual([made.shadowing.counts?.decisions, made.shadowing.counts?.skipped], [4, 4]);
});

it("counts anew under another name, and goes on under the same", () => {
  const { run, use, shadowing } = setUp(profileOf("candidate", 1));
  run(profileOf("default", 0));
  use("candidate", 50);
  assert.deepEqual([shadowing.counts?.decisions, shadowing.counts?.percent], [1, 50]);
  use("other", 50);
  assert.equal(shadowing.counts?.decisions, 0);
  // A request of the config before decides with the old shadow: it counts nowhere.
  assert.equal(run(profileOf("default", 0)).choice, undefined);
  shadowing.useShadow(undefined);
  assert.equal(shadowing.counts, undefined);
});

it("a fault is reported under the plugin's name", () => {
  const { run, faults } = setUp({
    ...profileOf("candidate", 1),
    chosen: [
      {
        name: "shadow/mine",
        type: "mine",
        plugin: {
          chosen() {
            throw new Error("No");
          },
        },
      },
    ],
  });
  assert.equal(run(profileOf("default", 0)).choice, undefined);
  assert.deepEqual(faults, ["candidate: No"]);
});
