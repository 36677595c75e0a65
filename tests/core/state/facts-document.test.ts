import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Profile } from "../../../core/active-config.ts";
import { makeEndpoint, makeLoad, makePrefix, makeRequest, seededRandom } from "../../../core/contract/test-kit.ts";
import { decide } from "../../../core/decide/decide.ts";
import { factsOf } from "../../../core/state/facts.ts";
import { readFacts, writeFacts } from "../../../core/state/facts-document.ts";
import ready from "../../../plugins/filters/ready.ts";
import weightedRandom from "../../../plugins/pickers/weighted-random.ts";
import lora from "../../../plugins/scorers/lora-affinity.ts";
import outstandingWork from "../../../plugins/scorers/outstanding-work.ts";
import queue from "../../../plugins/scorers/queue.ts";
import { createPlugin } from "../../support/plugins.ts";

const named = <Plugin>(name: string, plugin: Plugin) => ({ name, type: name, plugin });
const scorers = [createPlugin(outstandingWork), createPlugin(queue), createPlugin(lora)].map((plugin, index) => ({
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
  inFlight: (slot) => slot,
  prefillTokens: (slot) => 100 * slot,
  remainingPrefill: (slot) => 90 * slot,
  prefillRate: (slot) => 8 + slot,
  waiting: (slot) => (slot === 3 ? Number.NaN : slot),
  freshness: (slot) => (slot === 9 ? 0.25 : 1),
  adapters: (slot) =>
    slot === 3 ? undefined : { names: new Set(["v1"]), use: { running: new Set(["v1"]), waiting: new Set(), max: 2 } },
});

describe("facts written to a file", () => {
  const extras = {
    savedAt: "2030-01-01T00:00:00.000Z",
    tokenFactors: { messages: 1.25 },
    kept: [],
    lost: [],
    targets: ["v1", "v2"],
  };
  const text = JSON.stringify(writeFacts(factsOf(endpoints), load, extras));

  it("are the same when they are read and written again", () => {
    const { facts, load: readLoad } = readFacts(JSON.parse(text));
    assert.equal(JSON.stringify(writeFacts(facts, readLoad, extras)), text);
    assert.deepEqual([...facts.served], ["base", "v1"]);
  });

  it("have what is known of targets that replicas load", () => {
    const { load: readLoad } = readFacts(JSON.parse(text));
    assert.equal(readLoad.adapterLoadMs, 300);
    assert.deepEqual(readLoad.unlisted(3, "v1"), { standing: "loading", leftMs: 200 });
    assert.equal(readLoad.unlisted(3, "v2"), undefined);
    assert.equal(readLoad.unlisted(0, "v1"), undefined);
  });

  it("give the same decision as those in memory", () => {
    const { facts, load: readLoad } = readFacts(JSON.parse(text));
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

/** Sets are compared as lists. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, part) => (part?.[Symbol.iterator] && typeof part !== "string" ? [...part] : part)),
  );
}
