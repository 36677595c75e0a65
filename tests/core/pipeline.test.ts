import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Profile } from "../../core/active-config.ts";
import type { Endpoint } from "../../core/contract/endpoint.ts";
import { asRouterError } from "../../core/contract/errors.ts";
import type { LoadView } from "../../core/contract/load-view.ts";
import type { InferenceRequest } from "../../core/contract/request.ts";
import { decide } from "../../core/decide/decide.ts";
import { admit, route, routeAgain } from "../../core/pipeline.ts";
import type { Run } from "../../core/run.ts";
import { factsOf } from "../../core/state/facts.ts";
import { writePool } from "../../core/state/facts-document.ts";
import { LoadTable } from "../../core/state/load.ts";
import { deepFreeze } from "../../core/test-kit/freeze.ts";
import { builtInsOf } from "../contracts/pools.ts";
import { makeEndpoint, makeEndpoints, makeHeaders, makePrefix, makeRequest, seededRandom } from "../support/endpoints.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { shownTries } from "../support/forward.ts";
import { MemoryParts, type MemoryPartsOptions, makeRun } from "../support/memory-parts.ts";
import { jsonAnswer } from "../support/scripted-replica.ts";

const BODY = '{"model":"base","messages":[{"role":"user","content":"hello"}]}';
const OK = jsonAnswer('{"choices":[{"index":0}]}');
const named = <Plugin>(name: string, plugin: Plugin) => ({ name, type: name, plugin });

/** A request whose body is complete, not yet on its way. */
function setUp(options: MemoryPartsOptions = {}, body = BODY) {
  const parts = new MemoryParts(options);
  const run = makeRun(parts, body);
  return { parts, ticket: run.ticket, run };
}

/** Sends it on its way; returns how it was told that it is over. */
function send(run: Run): readonly string[] {
  const ends: string[] = [];
  assert.equal(admit(run, { admitted: () => assert.fail("it has not to wait"), failed() {} }), undefined);
  const forward = route(run, {
    bodyDelivered() {},
    completed: () => void ends.push("complete"),
    failed: ({ code }) => void ends.push(code),
    unreached: ({ code }) => void ends.push(code),
    missedTarget() {
      try {
        routeAgain(run, forward);
      } catch (thrown) {
        ends.push(asRouterError(thrown).code);
      }
    },
  });
  forward.begin(run.ticket.times.decidedAtMs);
  return ends;
}

describe("a request's way", () => {
  it("goes through the stages in their order, each seeing what the one before left", () => {
    const seen: string[] = [];
    const names = (endpoints: readonly Endpoint[]) => endpoints.map(({ name }) => name).join(" ");
    const note = (stage: string, { model, target }: Pick<InferenceRequest, "model" | "target">) =>
      seen.push(`${stage}: ${model} as ${target}`);
    const profile: Partial<Profile> = {
      filters: [
        named("filter", {
          filter(request: InferenceRequest, candidates: readonly Endpoint[]) {
            note(`filter ${names(candidates)}`, request);
            return candidates.slice(1);
          },
        }),
      ],
      scorers: [
        {
          ...named("scorer", {
            score(request: InferenceRequest, candidates: readonly Endpoint[]) {
              note(`score ${names(candidates)}`, request);
              return candidates.map((_, i) => i / candidates.length);
            },
          }),
          weight: 1,
        },
      ],
      picker: named("picker", {
        pick(candidates: readonly Endpoint[], totals: ArrayLike<number>) {
          seen.push(`pick of ${names(candidates)} by ${Array.from(totals).join(" ")}`);
          return candidates.toReversed();
        },
      }),
      chosen: [
        named("chosen", { chosen: (request: InferenceRequest, { name }: Endpoint) => void note(`sent to ${name}`, request) }),
      ],
    };
    const rewriter = named("rewriter", {
      clientModels: [],
      draw({ model }: { model: string }) {
        seen.push(`draw for ${model}`);
        return { target: "adapter", rule: "r" };
      },
    });
    const { parts, run } = setUp({ endpoints: makeEndpoints(3), profile, rewriters: [rewriter] });
    const ends = send(run);
    parts.upstreamOf(makeEndpoint(2)).send(OK);
    assert.deepEqual(seen, [
      "draw for base",
      "filter e0 e1 e2: base as adapter",
      "score e1 e2: base as adapter",
      "pick of e1 e2 by 0 0.5",
      "sent to e2: base as adapter",
    ]);
    assert.deepEqual(ends, ["complete"]);
    const sent = parts.upstreamOf(makeEndpoint(2)).socket.takeWritten().toString();
    assert.ok(sent.endsWith(`\r\n\r\n${BODY.replace("base", "adapter")}`), sent);
  });

  it("ends where it can't be understood: nothing is decided", () => {
    const { ticket, run } = setUp({}, '{"messages":[]}');
    assert.throws(() => send(run), { code: "missing_model" });
    assert.deepEqual([ticket.request, ticket.decision], [undefined, undefined]);
  });

  const dead: readonly (readonly [name: string, profile: Partial<Profile>, end: string, hasDecision: boolean])[] = [
    ["nobody may serve it", { filters: [named("none", { filter: () => [] })] }, "no_ready_endpoint", true],
    ["a plugin fails it", { picker: named("broken", { pick: () => [] }) }, "plugin_fault", false],
  ];
  for (const [name, profile, code, hasDecision] of dead) {
    it(`ends where ${name}: nothing is sent`, () => {
      const { parts, ticket, run } = setUp({ profile });
      assert.throws(() => send(run), { code });
      assert.equal(ticket.decision !== undefined, hasDecision);
      assert.equal(parts.upstreamOf(makeEndpoint(0)).sockets.length, 0);
    });
  }
});

describe("a request whose target no replica has after all", () => {
  const MISSING = jsonAnswer('{"error":{"message":"The model `v1` does not exist."}}', "404 Not Found");
  /** Lets through those that list the target, or have not said that they do not have it. */
  const mayHave = named("may-have", {
    filter: ({ target }: InferenceRequest, candidates: readonly Endpoint[], load: LoadView) =>
      candidates.filter(({ slot, models }) => models.has(target) || load.unlisted(slot, target)?.standing !== "refused"),
  });

  /** A rule that draws v1 first, and v2 from then on; e0 and e1 list v2. */
  function missV1(onUnavailable: "redistribute" | "refuse") {
    const draws = ["v1", "v2"];
    const targets = draws.map((name) => ({ name, weight: 1 }));
    const rewriter = named("rewriter", {
      clientModels: ["base"],
      mappings: [{ name: "food", models: ["base"], targets, onUnavailable }],
      draw: () => ({ target: draws.shift() ?? "v2", rule: "food" }),
    });
    const endpoints = [0, 1].map((slot) => makeEndpoint(slot, { models: ["v2"] }));
    const world = setUp({ endpoints, rewriters: [rewriter], profile: { filters: [mayHave] } });
    const ends = send(world.run);
    const [e0, e1] = endpoints.map((endpoint) => world.parts.upstreamOf(endpoint));
    e0!.send(MISSING);
    e1!.send(MISSING);
    return { ...world, ends, e0: e0! };
  }

  it("gets another target of a rule that redistributes, and is sent with that", () => {
    const { ticket, ends, e0 } = missV1("redistribute");
    e0.send(OK);
    assert.deepEqual(shownTries(ticket), ["e0 404", "e1 404", "e0 200"]);
    assert.deepEqual([ticket.request?.target, ticket.decision?.target, ends], ["v2", "v2", ["complete"]]);
    assert.match(e0.socket.takeWritten().toString(), /"model":"v2"/);
  });

  it("ends where its rule does not", () => {
    const { ticket, ends } = missV1("refuse");
    assert.deepEqual([shownTries(ticket), ends], [["e0 404", "e1 404"], ["no_ready_endpoint"]]);
  });
});

describe("a decision", () => {
  const endpoints = [0, 1, 3, 6].map((slot) =>
    makeEndpoint(slot, {
      models: ["base", "adapter"],
      labels: { "llm-d.ai/context-length-range": slot < 2 ? "0-4000" : "none" },
    }),
  );
  const facts = deepFreeze(factsOf(endpoints));
  const requestOf = (matched: readonly number[]) =>
    deepFreeze(
      makeRequest({
        target: "adapter",
        promptTokens: 1_000,
        prefix: makePrefix(10, 100, matched),
        headers: makeHeaders({ "x-session-token": "unknown" }),
      }),
    );
  const request = requestOf([0, 4, 0, 7, 0, 0, 2]);
  const cold = requestOf([]);

  /** A table in which prompts are worked off as time goes by, whole responses among them. */
  async function makeTable() {
    const clock = new FakeClock();
    const table = new LoadTable();
    for (const [i, { slot }] of [...endpoints, ...endpoints, ...endpoints].entries()) {
      table.begin(slot, { tokens: 300 * (i + 1), hasFirstByte: i % 2 === 0 }, clock.now());
      await clock.advance(7);
    }
    table.scraped(0, { waiting: 3, running: 2, kvUsage: 0.4 }, clock.now());
    table.scraped(1, { waiting: 0, running: 9, kvUsage: 0.9 }, clock.now());
    table.fade(1, 0.5);
    table.knowAdapters(3, { names: new Set(["adapter"]), use: { running: new Set(["adapter"]), waiting: new Set(), max: 2 } });
    return { clock, table };
  }

  /** Every scorer alone, and every picker over all of them. */
  function profiles(): Profile[] {
    const scorers = builtInsOf("scorer").map(([type, create]) => ({ ...named(type, create()), weight: 2 }));
    const pickers = builtInsOf("picker").map(([type, create]) => named(type, create()));
    const filters = builtInsOf("filter")
      .filter(([type]) => type !== "by-label")
      .map(([type, create]) => named(type, create()));
    const rest = { chosen: [], responseHeaders: [], filters };
    return [
      ...scorers.map((scorer) => ({ ...rest, name: scorer.name, scorers: [scorer], picker: pickers[0]! })),
      ...pickers.map((picker) => ({ ...rest, name: picker.name, scorers, picker })),
    ];
  }

  for (const profile of profiles()) {
    it(`by ${profile.name} is the same for the same inputs, and deciding changes none of them`, async () => {
      const { clock, table } = await makeTable();
      const nowMs = clock.now();
      const state = () => JSON.stringify([nowMs, nowMs + 50, nowMs + 5_000].map((ms) => writePool(facts, table.at(ms), [])));
      const before = state();
      const at = (ms: number) => [request, cold].map((each) => decide(each, facts, profile, table.at(ms), seededRandom(9)));
      const first = at(nowMs);
      for (const { refusal, faults } of first) assert.deepEqual([refusal, faults], [undefined, []]);
      assert.deepEqual(at(nowMs), first);
      // What is true later must not be remembered: nothing but the view says what time it is.
      at(nowMs + 5_000);
      assert.deepEqual(at(nowMs), first);
      assert.equal(state(), before);
    });
  }

  it("sends a request first to an endpoint on trial, whatever its score, and has the others as spares", () => {
    const [profile] = profiles();
    const pool = [makeEndpoint(0), makeEndpoint(1, { isOnTrial: true }), makeEndpoint(2)];
    const scorers = [{ ...named("scorer", { score: () => [1, 0.2, 0.6] }), weight: 1 }];
    const only = { ...profile!, filters: [], scorers, picker: named("all", { pick: (all: readonly Endpoint[]) => all }) };
    const [{ order, dropped } = assert.fail("no leg")] = decide(
      request,
      factsOf(pool),
      only,
      new LoadTable().at(0),
      () => 0,
    ).legs;
    assert.deepEqual([order.map(({ name }) => name), dropped], [["e1", "e0", "e2"], []]);
  });

  it("that refuses has scored and picked nobody", () => {
    const [profile] = profiles();
    const filters = [named("none", { filter: () => [] })];
    const asked = () => assert.fail("asked");
    const picker = named("asked", { pick: asked });
    const scorers = [{ ...named("asked", { score: asked }), weight: 1 }];
    const decision = decide(request, facts, { ...profile!, filters, scorers, picker }, new LoadTable().at(0), Math.random);
    assert.equal(decision.refusal?.code, "no_ready_endpoint");
    const [{ order, totals, scores, dropped } = assert.fail("no leg")] = decision.legs;
    assert.deepEqual({ order, totals, scores }, { order: [], totals: [], scores: [] });
    assert.deepEqual(dropped, [{ filter: "none", endpoints: facts.endpoints }]);
  });

  it("tells which plugins broke their contract, and goes on without them", () => {
    const scorers = [
      { ...named("broken", { score: () => [7] }), weight: 1 },
      {
        ...named("good", {
          score: (_request: unknown, candidates: readonly Endpoint[]) => candidates.map(({ slot }) => slot / 10),
        }),
        weight: 1,
      },
    ];
    const [profile] = profiles();
    const decision = decide(request, facts, { ...profile!, filters: [], scorers }, new LoadTable().at(0), Math.random);
    assert.deepEqual(
      decision.faults.map(({ plugin }) => plugin),
      ["broken"],
    );
    assert.equal(decision.legs[0]?.order[0]?.name, "e6");
  });
});
