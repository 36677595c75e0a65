import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { UnlistedName } from "../../../core/contract/load-view.ts";
import servesModel from "../../../plugins/filters/serves-model.ts";
import { makeEndpoint, makeLoad, makeRequest } from "../../support/endpoints.ts";
import { createPlugin } from "../../support/plugins.ts";

const both = makeEndpoint(0, { models: ["base", "adapter"] });
const base = makeEndpoint(1);
const unread = makeEndpoint(2, { models: [] });
const pool = [both, base, unread];

const slotsOf = (endpoints: readonly Endpoint[]) => endpoints.map(({ slot }) => slot);

describe("which endpoints stay", () => {
  const cases: readonly [target: string, kept: readonly number[]][] = [
    ["base", [0, 1]],
    ["adapter", [0]],
    ["other", []],
    ["", [0, 1, 2]],
  ];
  for (const [target, kept] of cases) {
    it(`${JSON.stringify(target)}: ${kept.join(", ") || "none"}`, () => {
      const stayed = createPlugin(servesModel).filter(makeRequest({ target }), pool, makeLoad(3), Math.random);
      assert.deepEqual(slotsOf(stayed), kept);
    });
  }
});

describe("which endpoints stay for a target that replicas may load", () => {
  interface Row {
    readonly name: string;
    /** What is known of the target, by slot. Slot 0 lists "adapter". */
    readonly unlisted?: Readonly<Record<number, UnlistedName>>;
    readonly target: string;
    readonly inFlight?: readonly number[];
    readonly prefillTokens?: readonly number[];
    readonly kept: readonly number[];
  }
  const loading = { standing: "loading", leftMs: 400 } as const;
  const served = { standing: "served", leftMs: 0 } as const;
  const refused = { standing: "refused", leftMs: 9_000 } as const;
  const rows: readonly Row[] = [
    { name: "no replica has it: all", target: "new", kept: [0, 1, 2] },
    { name: "one has refused it: the others", target: "new", unlisted: { 1: refused }, kept: [0, 2] },
    { name: "all have refused it: none", target: "new", unlisted: { 0: refused, 1: refused, 2: refused }, kept: [] },
    { name: "one loads it: that one", target: "new", unlisted: { 1: loading }, kept: [1] },
    { name: "one has served it: that one", target: "new", unlisted: { 0: refused, 1: served }, kept: [1] },
    { name: "one lists it: that one", target: "adapter", kept: [0] },
    { name: "one lists it, one loads it: both", target: "adapter", unlisted: { 2: loading }, kept: [0, 2] },
    { name: "the one that lists it is busy, but a load takes longer", target: "adapter", inFlight: [100], kept: [0] },
    {
      name: "the one that lists it is so busy that a load costs less: the least busy of the others too",
      target: "adapter",
      inFlight: [300, 20, 10],
      kept: [0, 2],
    },
    {
      name: "prompts wait for longer than a load takes",
      target: "adapter",
      prefillTokens: [16_100, 0, 700],
      kept: [0, 1],
    },
    { name: "all others are as busy", target: "adapter", inFlight: [300, 300, 300], kept: [0] },
    { name: "all others have refused it", target: "adapter", inFlight: [300], unlisted: { 1: refused, 2: refused }, kept: [0] },
    {
      name: "one loads it, and many wait there: that one",
      target: "new",
      inFlight: [0, 200],
      unlisted: { 1: loading },
      kept: [1],
    },
    {
      name: "the queue of the one that loads it takes longer than a load",
      target: "new",
      inFlight: [0, 300, 10],
      unlisted: { 1: loading },
      kept: [0, 1],
    },
    {
      name: "a base model is not loaded by others, however busy its own are",
      target: "base",
      inFlight: [300, 300],
      kept: [0, 1],
    },
  ];
  for (const { name, target, unlisted = {}, inFlight = [], prefillTokens = [], kept } of rows) {
    it(name, () => {
      const load = makeLoad(3, {
        inFlight: (slot) => inFlight[slot] ?? 0,
        prefillTokens: (slot) => prefillTokens[slot] ?? 0,
        adapters: (slot) => (slot === 2 ? undefined : { names: new Set(["adapter"]) }),
        unlisted: (slot, asked) => (asked === target ? unlisted[slot] : undefined),
        adapterLoadMs: 2_000,
      });
      const request = makeRequest({ target, onDemand: "configured" });
      assert.deepEqual(slotsOf(createPlugin(servesModel).filter(request, pool, load, Math.random)), kept);
    });
  }
});

describe("the refusal", () => {
  const { refuse } = createPlugin(servesModel);

  it("names the target and the rule that drew it", () => {
    const error = refuse!(makeRequest({ model: "food", target: "food-v2", rule: "food-review/0" }), pool);
    assert.deepEqual([error.code, error.status, error.retryAfterS], ["target_unavailable", 503, 1]);
    assert.match(error.message, /"food-v2".*"food-review\/0".*load it/);
  });

  it("says to try again while a replica that lists it is not ready", () => {
    const error = refuse!(makeRequest({ model: "late" }), [base, makeEndpoint(3, { phase: "not-ready", models: ["late"] })]);
    assert.deepEqual([error.code, error.status, error.retryAfterS], ["no_ready_endpoint", 503, 1]);
  });

  it("lists the names that clients should use first, then what replicas list, never the requested one", () => {
    const error = refuse!(makeRequest({ model: "secret-name" }), pool, ["food", "base"]);
    assert.deepEqual([error.code, error.status, error.retryAfterS], ["model_not_found", 404, 0]);
    assert.match(error.message, /^No replica serves this model; set "model" to one of: food, base, adapter\.$/);
  });
});
