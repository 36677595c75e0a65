import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RouterError } from "../../../../core/contract/errors.ts";
import { Bounds } from "../../../../core/contract/histogram.ts";
import type { RequestRun } from "../../../../core/contract/slots/request-run.ts";
import { makeEndpoints } from "../../../../core/contract/test-kit.ts";
import { makeOutcome } from "../../../../core/test-kit/records.ts";
import { makeView } from "../../../support/view.ts";
import { snapshot, writeEverywhere } from "../../../support/write-everywhere.ts";
import { behind, CALLS, compared, fail, faultOf, makeRun } from "./isolated-feature-calls.ts";

/** What is left of a slot that fails. */
const OTHERWISE: Readonly<Record<string, unknown>> = {
  ...{ compare: "base", lines: "", explain: [], status: {}, warnings: [], metrics: [], notes: [] },
};

const DECIDING = new Set(["enter", "admit", "admitAgain", "answer"]);

describe("a feature of one's own that throws", () => {
  for (const [slot, call] of Object.entries(CALLS)) {
    const what = DECIDING.has(slot) ? "fails the request, by its name" : "is reported, and changes nothing";
    it(`in ${slot} ${what}`, async () => {
      const { plugin, reports } = behind({ [slot]: fail });
      if (DECIDING.has(slot)) {
        assert.throws(
          () => call(plugin),
          (thrown: RouterError) => {
            assert.deepEqual([thrown.code, thrown.fault?.plugin], ["plugin_fault", "mine"]);
            assert.match(thrown.fault!.text, /broken on purpose/);
            return true;
          },
        );
        return assert.deepEqual(reports, []);
      }
      assert.deepEqual(call(plugin), OTHERWISE[slot]);
      assert.match(reports.join(), /^mine: broken on purpose/);
    });

    it(`later in ${slot}, by a promise, leaves no rejection that nobody handles`, async () => {
      const { plugin, reports } = behind({ [slot]: async () => fail() });
      if (slot === "enter" || slot === "answer")
        return assert.rejects(call(plugin) as Promise<unknown>, (thrown) => /broken on purpose/.test(faultOf(thrown) ?? ""));
      if (DECIDING.has(slot)) return void assert.throws(() => call(plugin), { code: "plugin_fault" });
      assert.deepEqual(call(plugin), OTHERWISE[slot]);
      assert.match(reports.join(), /promise|list of|status|lines must/);
    });
  }

  it("refuses with a RouterError as the router's own do", () => {
    const refusal = new RouterError("model_not_allowed", "Not you.");
    for (const slot of DECIDING)
      assert.throws(
        () =>
          CALLS[slot]!(
            behind({
              [slot]() {
                throw refusal;
              },
            }).plugin,
          ),
        (thrown) => thrown === refusal,
      );
  });
});

describe("what a feature of one's own sees", () => {
  for (const [slot, call] of Object.entries(CALLS)) {
    it(`in ${slot} can't be written, and has no parts of the router`, () => {
      const seen: unknown[] = [];
      const before = snapshot([makeRun(), makeOutcome(), compared()]);
      const { plugin } = behind({ [slot]: (...given: unknown[]) => void seen.push(...given) });
      try {
        call(plugin);
      } catch {
        // Nothing is no answer of some slots.
      }
      for (const each of seen) writeEverywhere(each);
      for (const each of seen) if (typeof each === "object") assert.ok(!("parts" in each!));
      assert.deepEqual(snapshot([makeRun(), makeOutcome(), compared()]), before);
    });
  }

  it("is the run that the router has, unchanged by all that it writes", () => {
    const run = makeRun();
    const before = snapshot(run);
    behind({ enter: (seen: RequestRun) => void writeEverywhere(seen) }).plugin.enter(run);
    assert.deepEqual(snapshot(run), before);
  });
});

describe("what people see of a feature of one's own", () => {
  it("are metrics as they were when they were given", () => {
    const sample = { values: ["x"], value: 1 };
    const family = { name: "a", type: "gauge", help: "A.", labels: ["b"], samples: [sample] };
    const shown = behind({ metrics: () => [family] }).plugin.metrics(makeView(makeEndpoints(1)));
    Object.assign(sample, { values: ["y"], value: "no number" });
    assert.deepEqual(shown, [{ ...family, samples: [{ values: ["x"], value: 1 }] }]);
  });

  const histogram = { bounds: new Bounds([1]), counts: new Float64Array([2, 0]), count: 2, sum: 1 };
  const cases: readonly (readonly [slot: string, returned: unknown, shown: unknown])[] = [
    ["status", { left: 5 }, { features: { mine: { left: 5 } } }],
    ["status", { large: 1n }, {}],
    ["status", { toJSON: () => undefined }, {}],
    ["status", { toJSON: () => "text" }, {}],
    ["lines", "x-a: 1\r\nx-b: 2\r\n", "x-a: 1\r\nx-b: 2\r\n"],
    ["lines", "x-a: 1", ""],
    ["lines", "x-a: 1\r\n\r\nbody\r\n", ""],
    ["lines", "x-a: 1\nx-b: 2\r\n", ""],
    ["lines", "Transfer-Encoding: chunked\r\n", ""],
    ["explain", ["It cost 5.", "\u001b[2J"], ["It cost 5.", "?[2J"]],
    ["explain", "It cost 5.", []],
    ["notes", [5], []],
    ["metrics", [{ name: "a", type: "gauge", help: "A.", labels: ["b"], samples: [{ values: ["x"], value: 1 }] }], undefined],
    [
      "metrics",
      [{ name: "a", type: "histogram", help: "A.", labels: [], samples: [{ values: [], value: histogram }] }],
      undefined,
    ],
    ["metrics", [{ name: "a", type: "histogram", help: "A.", labels: [], samples: [{ values: [], value: {} }] }], []],
    ["metrics", [{ name: "a", type: "histogram", help: "A.", labels: ["le"], samples: [] }], []],
    ["metrics", [{ name: "a", type: "gauge", help: "A.", labels: ["b", "b"], samples: [] }], []],
    ["metrics", [null], []],
    ["metrics", [{ name: "a b", type: "gauge", help: "A.", labels: [], samples: [] }], []],
    ["metrics", [{ name: "a", type: "gauge", help: "A.", labels: ["b"], samples: [{ values: [], value: 1 }] }], []],
  ];
  for (const [slot, returned, shown = returned] of cases)
    it(`${slot}: ${typeof returned === "string" ? JSON.stringify(returned) : Object.keys(returned as object)} is ${shown === returned ? "shown" : "checked"}`, () => {
      assert.deepEqual(CALLS[slot]!(behind({ [slot]: () => returned }).plugin), shown);
    });
});
