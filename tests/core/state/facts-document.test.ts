import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import type { Profile } from "../../../core/active-config.ts";
import { makeEndpoint, makeLoad, makePrefix, makeRequest, seededRandom } from "../../../core/contract/test-kit.ts";
import { decide } from "../../../core/decide/decide.ts";
import { factsOf } from "../../../core/state/facts.ts";
import { checkedFacts, FACTS_VERSION, type FactsDocument, readPool, writePool } from "../../../core/state/facts-document.ts";
import ready from "../../../plugins/filters/ready.ts";
import weightedRandom from "../../../plugins/pickers/weighted-random.ts";
import attributeScorer from "../../../plugins/scorers/attribute-scorer.ts";
import lora from "../../../plugins/scorers/lora-affinity.ts";
import outstandingWork from "../../../plugins/scorers/outstanding-work.ts";
import queue from "../../../plugins/scorers/queue.ts";
import { createPlugin } from "../../support/plugins.ts";

const named = <Plugin>(name: string, plugin: Plugin) => ({ name, type: name, plugin });
const coolest = createPlugin(attributeScorer, {
  attributeKey: "GPUUtilization",
  algorithm: { type: "linear_lower_is_better", normalization: { fixedRange: { min: 0, max: 1 } } },
});
const scorers = [createPlugin(outstandingWork), createPlugin(queue), createPlugin(lora), coolest].map((plugin, index) => ({
  ...named(`scorer-${index}`, plugin),
  weight: 1,
}));
const profile: Profile = {
  name: "default",
  filters: [named("ready", createPlugin(ready))],
  scorers,
  picker: named("weighted-random", createPlugin(weightedRandom)),
  chosen: [],
  responseHeaders: [],
};

const endpoints = [
  makeEndpoint(0, { models: ["base", "v1"], labels: { gpu: "h100" } }),
  makeEndpoint(3, { models: ["base"] }),
  makeEndpoint(5, { phase: "not-ready" }),
  makeEndpoint(9, { models: ["base", "v1"] }),
];
const load = makeLoad(10, {
  adapterLoadMs: 300,
  unlisted: (slot, name) => (slot === 3 && name === "v1" ? { standing: "loading", leftMs: 200 } : undefined),
  adapterMs: (slot, name) => (slot === 9 && name === "v1" ? 250 : 0),
  inFlight: (slot) => slot,
  prefillTokens: (slot) => 100 * slot,
  remainingPrefill: (slot) => 90 * slot,
  prefillRate: (slot) => 8 + slot,
  waiting: (slot) => (slot === 3 ? Number.NaN : slot),
  attributes: (slot) => new Map(slot === 3 ? [] : [["GPUUtilization", slot / 10]]),
  freshness: (slot) => (slot === 9 ? 0.25 : 1),
  adapters: (slot) =>
    slot === 3 ? undefined : { names: new Set(["v1"]), use: { running: new Set(["v1"]), waiting: new Set(), max: 2 } },
});

describe("facts written to a file", () => {
  const targets = ["v1", "v2"];
  const text = JSON.stringify(writePool(factsOf(endpoints), load, targets));

  it("are the same when they are read and written again", () => {
    const { facts, load: readLoad } = readPool(JSON.parse(text));
    assert.equal(JSON.stringify(writePool(facts, readLoad, targets)), text);
    assert.deepEqual([...facts.served], ["base", "v1"]);
  });

  it("have what is known of targets that replicas load", () => {
    const { load: readLoad } = readPool(JSON.parse(text));
    assert.equal(readLoad.adapterLoadMs, 300);
    assert.deepEqual(readLoad.unlisted(3, "v1"), { standing: "loading", leftMs: 200 });
    assert.equal(readLoad.unlisted(3, "v2"), undefined);
    assert.equal(readLoad.unlisted(0, "v1"), undefined);
  });

  it("have what adapters cost that are not believed to be loaded", () => {
    const { load: readLoad } = readPool(JSON.parse(text));
    assert.deepEqual(
      (
        [
          [9, "v1"],
          [0, "v1"],
          [9, "constructor"],
        ] as const
      ).map(([slot, name]) => readLoad.adapterMs(slot, name)),
      [250, 0, 0],
    );
  });

  it("give the same decision as those in memory", () => {
    const { facts, load: readLoad } = readPool(JSON.parse(text));
    for (let seed = 0; seed < 50; seed++) {
      const random = seededRandom(seed);
      const request = makeRequest({
        target: seed % 2 === 0 ? "v1" : "base",
        promptTokens: 1_000,
        prefix: makePrefix(
          10,
          100,
          Array.from({ length: 10 }, () => Math.floor(10 * random())),
        ),
      });
      const inMemory = decide(request, factsOf(endpoints), profile, load, seededRandom(seed));
      const again = decide(request, facts, profile, readLoad, seededRandom(seed));
      assert.deepEqual(plain(again), plain(inMemory));
    }
  });
});

const ejection = { reason: "5 resets in a row", sinceMs: 1, untilMs: 2 };
const written = [
  makeEndpoint(0, { labels: { gpu: "h100" }, models: ["base", "v1"] }),
  makeEndpoint(1, { phase: "ejected", ejection, isAvailable: false, stillTakes: "sessions" }),
];
const writtenLoad = makeLoad(2, {
  adapters: (slot) =>
    slot === 0 ? undefined : { names: new Set(["v1"]), use: { running: new Set(), waiting: new Set(), max: 2 } },
  unlisted: () => ({ standing: "refused", leftMs: 100 }),
});
const kept = [{ type: "model-rewrite", name: "m", version: 1, as: "map", value: [["r", 2]] }] as const;
const document = JSON.parse(
  JSON.stringify({
    version: FACTS_VERSION,
    savedAt: "2030-01-01T00:00:00.000Z",
    tokenFactors: { messages: 1.5 },
    partTokens: { v1: { image: 576, audio: 0.8 } },
    kept,
    lost: ["lora-affinity"],
    ...writePool(factsOf(written), writtenLoad, ["v1"]),
  }),
) as FactsDocument;

test("facts that were written pass the check unchanged", () => assert.deepEqual(checkedFacts(document), document));

describe("what is refused", () => {
  const [first] = document.endpoints;
  const rows: readonly (readonly [name: string, value: unknown, message: RegExp])[] = [
    ["nothing", null, /no snapshot/],
    ["a text", "facts", /no snapshot/],
    ["another document", { decisions: [] }, /no snapshot/],
    [
      "an older version",
      { ...document, version: 2 },
      new RegExp(`has version 2, and this program reads version ${FACTS_VERSION}`),
    ],
    ["a newer version", { ...document, version: 99 }, /has version 99/],
    ["no endpoints", { ...document, endpoints: undefined }, /damaged at endpoints/],
    ["a slot beyond the table", { ...document, endpoints: [{ ...first, slot: 5_000 }] }, /damaged at endpoints\.0\.slot/],
    [
      "two endpoints in one slot",
      { ...document, endpoints: [first, { ...first, name: "other" }] },
      /damaged at endpoints: .*slot/,
    ],
    ["two endpoints of one name", { ...document, endpoints: [first, { ...first, slot: 7 }] }, /damaged at endpoints: .*name/],
    ["models that are no list", { ...document, endpoints: [{ ...first, models: {} }] }, /damaged at endpoints\.0\.models/],
    ["a map that is none", { ...document, kept: [{ ...kept[0], value: [1] }] }, /damaged at kept\.0: the value does not fit/],
    ["a container that is none", { ...document, kept: [{ ...kept[0], as: "date" }] }, /damaged at kept\.0\.as/],
  ];
  for (const [name, value, message] of rows) it(name, () => assert.throws(() => checkedFacts(value), message));
});

/** Sets are compared as lists. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, part) => (part?.[Symbol.iterator] && typeof part !== "string" ? [...part] : part)),
  );
}
