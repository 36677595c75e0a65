import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { RouterError } from "../../../core/contract/errors.ts";
import type { Filter } from "../../../core/contract/filter.ts";
import { filter } from "../../../core/decide/filter.ts";
import { factsOf } from "../../../core/state/facts.ts";
import { makeEndpoint, makeEndpoints, makeLoad, makeRequest } from "../../support/endpoints.ts";

type Keep = (candidates: readonly Endpoint[]) => readonly Endpoint[];

/** A filter under the name of its place. */
const filters = (...keeps: readonly (Keep | Filter)[]) =>
  keeps.map((keep, i) => ({
    name: `f${i}`,
    type: "test",
    plugin:
      typeof keep === "function" ? { filter: (_request: unknown, candidates: readonly Endpoint[]) => keep(candidates) } : keep,
  }));

const POOL = factsOf(makeEndpoints(4)).endpoints;
const run = (...keeps: readonly (Keep | Filter)[]) => filter(makeRequest(), filters(...keeps), POOL, makeLoad(4), () => 0.5);

const names = (endpoints: readonly Endpoint[]) => endpoints.map(({ name }) => name).join(" ");
const but =
  (...slots: readonly number[]): Keep =>
  (candidates) =>
    candidates.filter(({ slot }) => !slots.includes(slot));
const all: Keep = (candidates) => candidates;
const copy: Keep = (candidates) => [...candidates];
const none: Keep = () => [];

describe("who is left", () => {
  const rows: readonly (readonly [name: string, keeps: readonly Keep[], left: string, dropped: readonly string[]])[] = [
    ["no filter", [], "e0 e1 e2 e3", []],
    ["filters that drop nobody", [all, copy], "e0 e1 e2 e3", []],
    ["each says whom it dropped, of those before it", [but(0), but(0, 2)], "e1 e3", ["f0: e0", "f1: e2"]],
    ["one that drops nobody is not told of", [but(1), all, but(3)], "e0 e2", ["f0: e1", "f2: e3"]],
    ["the first that leaves nobody ends it", [but(1), none, all], "", ["f0: e1", "f1: e0 e2 e3"]],
  ];
  for (const [name, keeps, left, dropped] of rows) {
    it(name, () => {
      const filtered = run(...keeps);
      assert.equal(names(filtered.candidates), left);
      assert.deepEqual(
        filtered.dropped.map((each) => `${each.filter}: ${names(each.endpoints)}`),
        dropped,
      );
      assert.equal(filtered.refusal === undefined, left !== "");
    });
  }

  it("filters after one that left nobody are not asked", () => {
    run(none, () => assert.fail("asked"));
  });
});

describe("filters that express a wish", () => {
  const wish = (keep: Keep): Filter => ({ expresses: "wish", filter: (_request, candidates) => keep(candidates) });
  const rows: readonly (readonly [name: string, keeps: readonly (Keep | Filter)[], left: string, spares: string])[] = [
    ["keep as spares what they drop", [but(0), wish(but(1, 2))], "e3", "e1 e2"],
    ["are added up", [wish(but(1)), wish(but(2))], "e0 e3", "e1 e2"],
    ["say nothing of what a need behind them drops", [wish(but(1, 2)), but(0, 1)], "e3", "e2"],
    ["are passed over where they would leave nobody", [but(0), wish(none)], "e1 e2 e3", ""],
    ["are passed over where a need behind them would leave nobody", [wish(but(1, 2, 3)), but(0)], "e1 e2 e3", ""],
    ["leave no spare to needs", [but(0), but(1)], "e2 e3", ""],
  ];
  for (const [name, keeps, left, spares] of rows) {
    it(name, () => {
      const filtered = run(...keeps);
      assert.deepEqual([names(filtered.candidates), names(filtered.spares)], [left, spares]);
      assert.equal(filtered.refusal, undefined);
    });
  }

  it("leave nobody either where the needs leave nobody", () => {
    const { candidates, spares, refusal } = run(wish(but(1)), none);
    assert.deepEqual([candidates, spares, refusal?.code], [[], [], "no_ready_endpoint"]);
  });

  it("that can't say what they express break their contract", () => {
    const broken: Filter = {
      filter: (_request, candidates) => candidates,
      get expresses(): never {
        throw new Error("no");
      },
    };
    assert.throws(() => run(broken), { code: "plugin_fault" });
  });
});

describe("when nobody is left", () => {
  const own = new RouterError("model_not_found", "Ask for another model.");

  it("the filter that dropped the last one says why; it sees the whole pool", () => {
    const seen: string[] = [];
    const refuse: Filter["refuse"] = (_request, endpoints) => {
      seen.push(names(endpoints));
      return own;
    };
    const { refusal } = run(but(0, 1), { filter: () => [], refuse });
    assert.equal(refusal, own);
    assert.deepEqual(seen, ["e0 e1 e2 e3"]);
  });

  it("nobody else is asked why", () => {
    const refuse = () => assert.fail("asked");
    const { refusal } = run({ filter: (_request, candidates) => candidates.slice(1), refuse }, none);
    assert.equal(refusal?.code, "no_ready_endpoint");
    assert.match(refusal?.message ?? "", /"f1"/, "it names the filter");
    assert.ok((refusal?.retryAfterS ?? 0) > 0);
  });

  it("an empty pool is told from a full one", () => {
    const { refusal, candidates } = filter(makeRequest(), filters(all), [], makeLoad(0), () => 0.5);
    assert.deepEqual(candidates, []);
    assert.equal(refusal?.code, "no_ready_endpoint");
    assert.match(refusal?.message ?? "", /no replicas/);
  });
});

describe("what a filter can't do", () => {
  it("change the list that others see: each gets a copy of its own", () => {
    const returned: Endpoint[][] = [];
    const keeping: Keep = (candidates) => {
      const kept = candidates.slice(1);
      returned.push(kept);
      return kept;
    };
    const vandal: Keep = (candidates) => {
      for (const kept of returned) kept.length = 0;
      const all = candidates.slice();
      (candidates as Endpoint[]).splice(0);
      return all;
    };
    const { candidates } = run(keeping, vandal);
    for (const kept of returned) kept.push(makeEndpoint(9));
    assert.equal(names(candidates), "e1 e2 e3");
  });

  it("change the list that the next filter gets, which is the same one while nobody has changed it", () => {
    const seen: string[] = [];
    const look: Keep = (candidates) => {
      seen.push(names(candidates));
      return candidates;
    };
    const vandal: Keep = (candidates) => {
      const all = candidates.slice();
      (candidates as Endpoint[]).reverse();
      return all;
    };
    run(look, vandal, look, but(0), look, vandal, look);
    assert.deepEqual(seen, ["e0 e1 e2 e3", "e0 e1 e2 e3", "e1 e2 e3", "e1 e2 e3"]);
  });

  const stranger = makeEndpoint(1);
  const faults: readonly (readonly [name: string, returned: (candidates: readonly Endpoint[]) => unknown])[] = [
    ["nothing", () => undefined],
    ["null", () => null],
    ["no array", (candidates) => new Set(candidates)],
    ["a promise", (candidates) => Promise.resolve(candidates)],
    ["an endpoint instead of a list", ([first]) => first],
    ["a stranger", (candidates) => [...candidates, stranger]],
    ["a stranger that looks like a candidate", (candidates) => candidates.map((each) => (each.slot === 1 ? stranger : each))],
    ["another order", (candidates) => candidates.toReversed()],
    ["a candidate twice", ([first, ...others]) => [first, first, ...others]],
    ["a hole", (candidates) => [candidates[0], undefined]],
    ["whom another filter had dropped", () => POOL],
  ];
  for (const [name, returned] of faults) {
    it(`return ${name}: plugin_fault, by its name`, () => {
      assert.throws(() => run(but(3), returned as Keep), { code: "plugin_fault", message: /"f1"/ });
    });
  }

  it("throw unnoticed: plugin_fault, with its cause for the operator only", () => {
    const cause = new Error("secret of the plugin");
    const thrower: Keep = () => {
      throw cause;
    };
    assert.throws(
      () => run(all, thrower),
      (thrown) => {
        assert.ok(thrown instanceof RouterError);
        assert.deepEqual([thrown.code, thrown.cause], ["plugin_fault", cause]);
        assert.match(thrown.message, /"f1"/);
        assert.doesNotMatch(thrown.message, /secret/);
        return true;
      },
    );
  });
});
