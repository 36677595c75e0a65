import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Profile } from "../../core/active-config.ts";
import type { Endpoint } from "../../core/contract/endpoint.ts";
import { asRouterError, RouterError } from "../../core/contract/errors.ts";
import type { LoadView } from "../../core/contract/load-view.ts";
import type { InferenceRequest } from "../../core/contract/request.ts";
import { decide, PipelineRun } from "../../core/pipeline.ts";
import type { Admission, Applicant } from "../../core/stages/admit.ts";
import { factsOf } from "../../core/state/facts.ts";
import { writeFacts } from "../../core/state/facts-document.ts";
import { Lease } from "../../core/state/lease.ts";
import { LoadTable } from "../../core/state/load.ts";
import { builtInsOf } from "../contracts/pools.ts";
import { makeEndpoint, makeEndpoints, makeHeaders, makePrefix, makeRequest, seededRandom } from "../support/endpoints.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { deepFreeze } from "../support/freeze.ts";
import { MemoryPlane, type MemoryPlaneOptions, makeIncoming } from "../support/memory-plane.ts";
import { RecordedResponse } from "../support/recorded-response.ts";
import { outstanding } from "../support/router.ts";
import { jsonAnswer } from "../support/scripted-replica.ts";

const BODY = '{"model":"base","messages":[{"role":"user","content":"hello"}]}';
const OK = jsonAnswer("{}");
const named = <Plugin>(name: string, plugin: Plugin) => ({ name, type: name, plugin });

/** Holds whoever applies until the test lets it go on. */
class Gate implements Admission {
  readonly waiting: Applicant[] = [];
  readonly left: Applicant[] = [];

  apply(applicant: Applicant): void {
    this.waiting.push(applicant);
  }

  leave(applicant: Applicant): void {
    this.left.push(applicant);
  }
}

/** Lets one go on at a time, the next as soon as that one leaves. */
class Turnstile extends Gate {
  override apply(applicant: Applicant): void {
    super.apply(applicant);
    if (this.waiting.length === 1) applicant.admitted();
  }

  override leave(applicant: Applicant): void {
    super.leave(applicant);
    this.waiting.shift();
    this.waiting[0]?.admitted();
  }
}

/** A run over a plane in memory, begun; whoever ends it closes it, as the intake does. */
function begin(options: MemoryPlaneOptions = {}, body = BODY, plane = new MemoryPlane(options)) {
  const response = new RecordedResponse();
  const ends: string[] = [];
  const end = (how: string) => {
    ends.push(how);
    run.close();
  };
  const owner = {
    bodyDelivered() {},
    completed: () => end("complete"),
    failed: (thrown: unknown) => end(asRouterError(thrown).code),
  };
  const run: PipelineRun = new PipelineRun(makeIncoming(body), plane.config, plane, response, owner);
  run.begin();
  return { plane, response, run, ends };
}

describe("a request's way", () => {
  it("goes through the stages in their order, each seeing what the one before left", () => {
    const seen: string[] = [];
    const names = (endpoints: readonly Endpoint[]) => endpoints.map(({ name }) => name).join(" ");
    const note = (stage: string, { model, target }: Pick<InferenceRequest, "model" | "target">) =>
      seen.push(`${stage}: ${model} as ${target}`);
    const admission: Admission = {
      apply(applicant) {
        note("admit", applicant.request);
        applicant.admitted();
      },
      leave: () => void seen.push("leave"),
    };
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
    const { plane, ends } = begin({ endpoints: makeEndpoints(3), admission, profile, rewriters: [rewriter] });
    plane.upstreamOf(makeEndpoint(2)).send(OK);
    assert.deepEqual(seen, [
      "draw for base",
      "admit: base as adapter",
      "filter e0 e1 e2: base as adapter",
      "score e1 e2: base as adapter",
      "pick of e1 e2 by 0 0.5",
      "sent to e2: base as adapter",
      "leave",
    ]);
    assert.deepEqual(ends, ["complete"]);
    const sent = plane.upstreamOf(makeEndpoint(2)).socket.takeWritten().toString();
    assert.ok(sent.endsWith(`\r\n\r\n${BODY.replace("base", "adapter")}`), sent);
  });

  it("ends where it can't be understood: nobody is asked to admit it", () => {
    const gate = new Gate();
    assert.throws(() => begin({ admission: gate }, '{"messages":[]}'), { code: "missing_model" });
    assert.deepEqual(gate.waiting, []);
  });

  const dead: readonly (readonly [name: string, profile: Partial<Profile>, end: string, hasDecision: boolean])[] = [
    ["nobody may serve it", { filters: [named("none", { filter: () => [] })] }, "no_ready_endpoint", true],
    ["a plugin fails it", { picker: named("broken", { pick: () => [] }) }, "plugin_fault", false],
  ];
  for (const [name, profile, end, hasDecision] of dead) {
    it(`ends where ${name}: nothing is sent, and its place is free`, () => {
      const gate = new Gate();
      const { plane, run, ends } = begin({ admission: gate, profile });
      gate.waiting[0]?.admitted();
      assert.deepEqual(ends, [end]);
      assert.equal(run.decision !== undefined, hasDecision);
      assert.equal(plane.upstreamOf(makeEndpoint(0)).sockets.length, 0);
      assert.deepEqual(gate.left, [run]);
    });
  }
});

describe("a request that waits to be admitted", () => {
  it("is decided on what is known once it is", async () => {
    const gate = new Gate();
    const seenBusy: number[] = [];
    const filters = [
      named("busy", {
        filter(_request: InferenceRequest, candidates: readonly Endpoint[], load: LoadView) {
          seenBusy.push(...candidates.map(({ slot }) => load.remainingPrefill(slot)));
          return candidates;
        },
      }),
    ];
    const { plane, run } = begin({ admission: gate, profile: { filters } });
    const [old, fresh] = [makeEndpoint(0), makeEndpoint(1)];
    plane.facts = factsOf([fresh]);
    const lease = new Lease(plane.load, fresh.slot, { tokens: 1_000, hasFirstByte: true }, 0, plane.clock.now());
    await plane.clock.advance(10);
    assert.deepEqual(seenBusy, [], "nothing is decided yet");
    gate.waiting[0]?.admitted();
    assert.deepEqual(run.decision?.endpoints, [fresh]);
    assert.equal(plane.upstreamOf(old).sockets.length, 0);
    assert.equal(plane.upstreamOf(fresh).sockets.length, 1);
    assert.equal(plane.load.inFlight[fresh.slot], 2);
    assert.ok(seenBusy.length === 1 && seenBusy[0]! > 0 && seenBusy[0]! < 1_000, `the load of that moment, not ${seenBusy}`);
    run.close();
    lease.release(plane.clock.now());
    assert.deepEqual(outstanding(plane), { inFlight: 0, prefillTokens: 0 });
  });

  it("that leaves frees its place once and is never sent, even where it is admitted after that", () => {
    const gate = new Gate();
    const { plane, run, ends } = begin({ admission: gate });
    run.drained();
    const delivery = run.close();
    assert.deepEqual(gate.left, [run]);
    gate.waiting[0]?.admitted();
    gate.waiting[0]?.refused(new RouterError("saturated", "Come back later."));
    assert.deepEqual([delivery.attempts, delivery.status], [[], 0]);
    assert.deepEqual(ends, [], "whoever closed it knows");
    assert.equal(run.decision, undefined);
    assert.equal(plane.upstreamOf(makeEndpoint(0)).sockets.length, 0);
    assert.deepEqual(outstanding(plane), { inFlight: 0, prefillTokens: 0 });
    assert.deepEqual(gate.left, [run]);
  });

  it("that is refused ends with that error", () => {
    const gate = new Gate();
    const { plane, run, ends } = begin({ admission: gate });
    gate.waiting[0]?.refused(new RouterError("saturated", "Come back later."));
    assert.deepEqual(ends, ["saturated"]);
    assert.deepEqual(gate.left, [run]);
    assert.equal(plane.upstreamOf(makeEndpoint(0)).sockets.length, 0);
  });

  it("keeps its place until its response is over", () => {
    const gate = new Gate();
    const { plane, run } = begin({ admission: gate });
    gate.waiting[0]?.admitted();
    plane.upstreamOf(makeEndpoint(0)).send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{");
    assert.deepEqual(gate.left, []);
    plane.upstreamOf(makeEndpoint(0)).send("}");
    assert.deepEqual(gate.left, [run]);
  });

  it("finds what the one before it had free: its connection and its share of the load", () => {
    const [e0] = makeEndpoints(1);
    const options = { admission: new Turnstile(), limits: { upstreamConnections: 1 } };
    const { plane, run: first } = begin(options);
    const { run: second } = begin(options, BODY, plane);
    plane.upstreamOf(e0!).accept();
    assert.equal(second.decision, undefined, "it waits");
    first.close();
    assert.equal(plane.upstreamOf(e0!).sockets.length, 2);
    assert.deepEqual(
      second.close().attempts.map(({ endpoint, result }) => [endpoint, result]),
      [["e0", "aborted"]],
    );
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
      new Lease(table, slot, { tokens: 300 * (i + 1), hasFirstByte: i % 2 === 0 }, 0, clock.now());
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

  const NOTHING_ELSE = { savedAt: "", tokenFactors: {}, kept: [], lost: [], targets: [] };
  for (const profile of profiles()) {
    it(`by ${profile.name} is the same for the same inputs, and deciding changes none of them`, async () => {
      const { clock, table } = await makeTable();
      const nowMs = clock.now();
      const state = () =>
        JSON.stringify([nowMs, nowMs + 50, nowMs + 5_000].map((ms) => writeFacts(facts, table.at(ms), NOTHING_ELSE)));
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
