import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { factsOf } from "../../../core/state/facts.ts";
import { checkedFacts, FACTS_VERSION, type FactsDocument, writeFacts } from "../../../core/state/facts-document.ts";
import { makeEndpoint, makeLoad } from "../../support/endpoints.ts";

const ejection = { reason: "5 resets in a row", sinceMs: 1, untilMs: 2 };
const endpoints = [
  makeEndpoint(0, { labels: { gpu: "h100" }, models: ["base", "v1"] }),
  makeEndpoint(1, { phase: "ejected", ejection, isAvailable: false, stillTakes: "sessions" }),
];
const load = makeLoad(2, {
  adapters: (slot) =>
    slot === 0 ? undefined : { names: new Set(["v1"]), use: { running: new Set(), waiting: new Set(), max: 2 } },
  unlisted: () => ({ standing: "refused", leftMs: 100 }),
});
const kept = [{ type: "model-rewrite", name: "m", version: 1, as: "map", value: [["r", 2]] }] as const;
const document = JSON.parse(
  JSON.stringify(
    writeFacts(factsOf(endpoints), load, {
      savedAt: "2030-01-01T00:00:00.000Z",
      tokenFactors: { messages: 1.5 },
      partTokens: { v1: { image: 576, audio: 0.8 } },
      kept,
      lost: ["lora-affinity"],
      targets: ["v1"],
    }),
  ),
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
