import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RouterError } from "../../../../core/contract/errors.ts";
import type { WaitOwner } from "../../../../core/contract/slots/admit.ts";
import type { Planned } from "../../../../core/contract/slots/plan.ts";
import type { RequestRun } from "../../../../core/contract/slots/request-run.ts";
import { makeEndpoints, makeLoad, makeRequest } from "../../../../core/contract/test-kit.ts";
import { makeDecision } from "../../../../core/test-kit/records.ts";
import { behind, CALLS, compared, fail, faultOf, makeRun, owner, response } from "./isolated-feature-calls.ts";

describe("a plan of one's own", () => {
  const [one, two] = [makeDecision({ profile: "one" }), makeDecision({ profile: "two" })];
  /** What the router gets of a plan, with decisions in this order. */
  const planOf = (plan: (planned: Planned) => unknown) => {
    const decisions = [one, two];
    const { plugin } = behind({ plan });
    return plugin.plan({
      ...{ request: makeRequest(), load: makeLoad(3), profile: { name: "default" } },
      decide: () => decisions.shift() ?? one,
    });
  };

  it("is the router's decision, and has further legs of its own", () => {
    assert.equal(planOf((planned) => planned.decide(planned.profile)).legs[0], one.legs[0]);
    const both = planOf((planned) => {
      const [first, second] = [planned.decide(planned.profile), planned.decide(planned.profile)];
      return { ...second, legs: [...second.legs, ...first.legs] };
    });
    assert.deepEqual(both, { ...two, legs: [two.legs[0], one.legs[0]] });
  });

  it("says who may answer; all may where it does not say so", () => {
    const says: readonly (readonly [said: () => unknown, isTaken: boolean])[] = [
      [() => true, true],
      [() => false, false],
      [() => undefined, true],
      [async () => false, true],
      [fail, true],
    ];
    for (const [mayAnswer, isTaken] of says)
      assert.equal(behind({ mayAnswer }).plugin.mayAnswer(makeEndpoints(1)[0]!), isTaken, String(mayAnswer));
  });

  it("changes nothing else, whatever it says of itself", () => {
    const planned = planOf((given) => ({
      ...given.decide(given.profile),
      refusal: new Error("mine"),
      model: "mine",
      pairing: 1,
    }));
    assert.deepEqual(planned, one);
  });

  const bad: readonly (readonly [name: string, plan: (planned: Planned) => unknown])[] = [
    ["that throws", fail],
    ["that is async", async (planned) => planned.decide(planned.profile)],
    ["that rejects", async () => fail()],
    ["that is nothing", () => undefined],
    ["that is null", () => null],
    ["that has no legs", (planned) => ({ ...planned.decide(planned.profile), legs: [] })],
    ["whose legs are no list", (planned) => ({ ...planned.decide(planned.profile), legs: { length: 1 } })],
    ["that nobody decided", () => makeDecision()],
    ["with a leg of one's own", (planned) => ({ legs: [...planned.decide(planned.profile).legs, { ...one.legs[0] }] })],
    ["that writes into a leg", (planned) => Object.assign(planned.decide(planned.profile).legs[0]!, { order: [] })],
    ["that writes into what it was given", (planned) => Object.assign(planned, { decide: () => one })],
    [
      "that lets nobody look",
      () =>
        new Proxy(
          {},
          {
            get: fail,
          },
        ),
    ],
  ];
  for (const [name, plan] of bad) {
    it(`${name} fails the request, by its name`, () => {
      assert.throws(
        () => planOf(plan),
        (thrown: RouterError) => thrown.code === "plugin_fault" && thrown.fault?.plugin === "mine",
      );
    });
  }
});

describe("an answer", () => {
  const answered = (answer: unknown) => {
    const { plugin } = behind({ answer: () => answer });
    try {
      return plugin.answer(makeRun());
    } catch (thrown) {
      return faultOf(thrown);
    }
  };
  const good = { status: 200, headers: { "x-a": "1" }, body: "yes" };
  const bad: readonly (readonly [why: string, answer: unknown, fault: RegExp])[] = [
    ["no object", 5, /status undefined/],
    ["no status", { ...good, status: "200" }, /status 200: give one/],
    ["a status that goes on", { ...good, status: 101 }, /status 101/],
    ["no headers", { ...good, headers: undefined }, /no headers/],
    ["a header that is two lines", { ...good, headers: { "x-a": "1\r\nx-b: 2" } }, /characters that no header/],
    ["a name that is none", { ...good, headers: { "x a": "1" } }, /no header's name/],
    ["a length of its own", { ...good, headers: { "Content-Length": "1" } }, /the router's/],
    ["a body that is no text", { ...good, body: {} }, /no body/],
    ["a body where none may be", { ...good, status: 204 }, /status 204 has none/],
    ["more headers than clients take", { ...good, headers: { "x-a": "1".repeat(9_000) } }, /headers of 9003 bytes/],
  ];
  for (const [why, answer, fault] of bad) it(`with ${why} is a fault`, () => assert.match(String(answered(answer)), fault));

  it("is taken as it is, with bytes that the feature can't change any more", () => {
    const bytes = Buffer.from("yes");
    const given = answered({ ...good, body: bytes }) as { body: Uint8Array };
    bytes.fill(0);
    assert.equal(Buffer.from(given.body).toString(), "yes");
    assert.equal(answered(undefined), undefined);
  });

  it("that never comes ends by the limit, and so does an entrance", async () => {
    for (const slot of ["answer", "enter"] as const) {
      const { plugin, clock } = behind({ [slot]: () => new Promise(() => {}) });
      const late = assert.rejects(CALLS[slot]!(plugin) as Promise<unknown>, (thrown) =>
        /longer than spec.limits.featureWaitMs \(1000 ms\)/.test(faultOf(thrown) ?? ""),
      );
      await clock.advance(1_000);
      await late;
      assert.equal(clock.pending, 0);
    }
  });

  it("on a path of its own must be there; a path that is none is refused at once", async () => {
    const route = { method: "GET", path: "/v1/mine", bodyBytes: 0, answer: () => undefined };
    const { plugin } = behind({ routes: [route] });
    assert.throws(() => plugin.routes[0]!.answer(makeRun()), { code: "plugin_fault" });
    const late = behind({ routes: [{ ...route, answer: async () => undefined }] });
    await assert.rejects(async () => late.plugin.routes[0]!.answer(makeRun()), { code: "plugin_fault" });
    for (const wrong of [
      { method: "PUT" },
      { path: "mine" },
      { path: "/a*" },
      { path: "/a/*/b" },
      { path: "/health" },
      { path: "/ready" },
      { bodyBytes: -1 },
      { answer: 1 },
    ])
      assert.throws(() => behind({ routes: [{ ...route, ...wrong }] }), TypeError, JSON.stringify(wrong));
    assert.doesNotThrow(() => behind({ routes: [{ ...route, path: "/v1/mine/*" }] }));
  });
});

describe("a place of a feature of one's own", () => {
  const waiting = (admit: (owner: WaitOwner) => unknown) => {
    const said: unknown[] = [];
    const { plugin, clock, reports } = behind({ admit: (_run: RequestRun, told: WaitOwner) => admit(told) });
    return { said, clock, reports, place: plugin.admit(makeRun(), owner(said)) };
  };

  it("goes on once, however often the feature says so", () => {
    let told: WaitOwner | undefined;
    const { said, place, clock } = waiting((owner) => {
      told = owner;
      return { leave() {} };
    });
    told?.admitted();
    told?.admitted();
    told?.failed(new Error("late"));
    place?.leave();
    assert.deepEqual(said, ["admitted"]);
    assert.equal(clock.pending, 0);
  });

  it("is none where it was told to go on while it was asked", () => {
    const { said, place } = waiting((owner) => {
      owner.admitted();
      return { leave() {} };
    });
    assert.deepEqual([said, place], [[], undefined]);
    assert.throws(() => waiting((owner) => owner.failed(new Error("no"))), { code: "plugin_fault" });
  });

  it("leaves no rejection that nobody handles where it was told to go on and then rejects", async () => {
    const { place } = waiting(async (owner) => {
      owner.admitted();
      throw new Error("broken on purpose");
    });
    assert.equal(place, undefined);
    await new Promise((resolve) => setImmediate(resolve));
  });

  it("that is given up says nothing more", () => {
    let told: WaitOwner | undefined;
    let left = 0;
    const { said, place } = waiting((owner) => {
      told = owner;
      return { leave: () => left++ };
    });
    place?.leave();
    place?.leave();
    told?.admitted();
    assert.deepEqual([said, left], [[], 1]);
  });

  it("ends by the limit", async () => {
    const { said, clock } = waiting(() => ({ leave() {} }));
    await clock.advance(1_000);
    assert.match(faultOf(said[0]) ?? "", /featureWaitMs/);
  });

  it("that is none is a fault", () => {
    for (const place of [null, true, {}, Promise.resolve()]) assert.throws(() => waiting(() => place), { code: "plugin_fault" });
  });
});

describe("a tap of a feature of one's own", () => {
  it("gets copies of what passes", () => {
    const kept: Uint8Array[] = [];
    const chunk = Buffer.from("abcdef");
    const read = (bytes: Uint8Array, spans: ArrayLike<number>) =>
      void kept.push(bytes.fill(0, 0, 1).subarray(spans[0], spans[1]));
    const tap = behind({ tap: () => ({ read, end() {} }) }).plugin.tap(makeRun(), response())!;
    tap.read(chunk, [0, 2, 4, 6], 2);
    assert.equal(chunk.toString(), "abcdef");
    chunk.fill(0);
    assert.equal(Buffer.from(kept[0]!).toString(), "\0bef");
  });

  it("is let go where it throws, or gives a promise", () => {
    for (const fault of [fail, async () => fail()]) {
      const ends: boolean[] = [];
      const { plugin, reports } = behind({ tap: () => ({ read: fault, end: (isWhole: boolean) => ends.push(isWhole) }) });
      const tap = plugin.tap(makeRun(), response())!;
      for (let i = 0; i < 3; i++) tap.read(Buffer.from("a"), [0, 1], 1);
      tap.end(true);
      assert.deepEqual(ends, []);
      assert.equal(reports.length, 1);
    }
  });

  it("inserts between two events, and nowhere else", () => {
    const passing = response();
    const wrong: unknown[] = [];
    let seen = passing;
    const insert = () => {
      try {
        seen.insert(Buffer.from("x"));
      } catch (thrown) {
        wrong.push(thrown);
      }
    };
    const feature = {
      tap: (_run: RequestRun, given: typeof passing) => {
        seen = given;
        return { read: insert, end: insert };
      },
    };
    const tap = behind(feature).plugin.tap(makeRun(), passing)!;
    insert();
    tap.read(Buffer.from("a"), [0, 1], 1);
    tap.end(true);
    insert();
    assert.equal(passing.inserted.length, 1);
    assert.equal(wrong.length, 3);
  });
});

describe("a comparison by a feature of one's own", () => {
  it("has no say in the decision", () => {
    const given = compared();
    const real = makeDecision({ target: "real" });
    const { plugin, reports } = behind({
      compare: (_run: RequestRun, { decide, profile, random }: typeof given) => ({
        ...(decide as (...all: unknown[]) => object)(profile, random),
        target: "mine",
      }),
    });
    assert.equal(plugin.compare(makeRun(), { ...given, decide: () => real }), real);
    assert.deepEqual(reports, []);
  });

  it("decides with no profile but the one that it is given, and not later", () => {
    let kept: ((...all: unknown[]) => unknown) | undefined;
    const { plugin, reports } = behind({
      compare(_run: RequestRun, { decide }: { decide: typeof kept }) {
        kept = decide;
        decide?.({ name: "other" }, Math.random);
      },
    });
    assert.equal(plugin.compare(makeRun(), compared()).model, "base");
    assert.match(reports.join(), /a profile that it was not given/);
    assert.throws(() => kept?.(), /called later/);
  });
});
