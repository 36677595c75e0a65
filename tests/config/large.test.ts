import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Draft } from "../../apps/import/draft.ts";
import { endpointPicker } from "../../apps/import/endpoint-picker.ts";
import { loadTexts } from "../../config/load.ts";
import { builtIns } from "../../plugins/registry.ts";
import { picker } from "./endpoint-picker/support.ts";

const SMALL = 150;
const TIMES = 8;
/** So many times as long would be quadratic: half of it is far from that, and from linear. */
const LIMIT = (TIMES * TIMES) / 2;

const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join("");
const profile = (count: number, name: string) =>
  `schedulingProfiles:\n- name: p\n  plugins:\n${lines(count, (index) => `  - pluginRef: ${name}-${index}\n`)}`;

/** A document with so many entries of which each has to be found or compared among the others. */
const SHAPES: Readonly<Record<string, (count: number) => string>> = {
  "unknown plugin types, each in the profile": (count) =>
    picker(`plugins:\n${lines(count, (index) => `- type: my-own-scorer-${index}\n`)}${profile(count, "my-own-scorer")}`),
  "bad parameters": (count) =>
    picker(`plugins:\n${lines(count, (index) => `- { type: queue-scorer, name: q-${index}, parameters: { a: 1, b: 2 } }\n`)}`),
  "references that name nothing": (count) =>
    picker(`plugins:\n${lines(count, (index) => `- { type: queue-scorer, name: q-${index} }\n`)}${profile(count, "qq")}`),
  "producers that name nothing": (count) =>
    picker(
      `plugins:\n${lines(count, (index) => `- { type: approx-prefix-cache-producer, name: p-${index} }\n`)}${lines(count, (index) => `- { type: prefix-cache-scorer, name: s-${index}, parameters: { prefixMatchInfoProducerName: pp-${index} } }\n`)}`,
    ),
  "sources with a period": (count) =>
    picker(
      `plugins:\n${lines(count, (index) => `- { type: metrics-data-source, name: m-${index} }\n`)}dataLayer:\n  sources:\n${lines(count, (index) => `  - { pluginRef: m-${index}, interval: 1s, extractors: [ { pluginRef: x } ] }\n`)}`,
    ),
  "endpoints without an address": (count) =>
    `apiVersion: signalbox/v1\nkind: Router\nspec:\n  pool:\n    endpoints:\n${lines(count, (index) => `    - { ur: "http://h${index}:1" }\n`)}`,
};

async function timed(run: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < 2; turn++) {
    const start = performance.now();
    await run();
    times.push(performance.now() - start);
  }
  return Math.min(...times);
}

describe("the time grows with the size of a document, not with its square", { timeout: 300_000 }, () => {
  const check = (text: string) => loadTexts([{ file: "a.yaml", text }], builtIns, ["http://a:1"]);
  const make = (text: string) => endpointPicker.read({ file: "a.yaml", text, commands: [], registry: builtIns }, new Draft());
  for (const [name, shape] of Object.entries(SHAPES))
    for (const [what, run] of Object.entries({ check, import: make }))
      if (what === "check" || shape(0).includes("EndpointPickerConfig"))
        it(`${what}: ${name}`, async () => {
          await run(shape(10));
          const small = await timed(async () => run(shape(SMALL)));
          const large = await timed(async () => run(shape(SMALL * TIMES)));
          assert.ok(large < LIMIT * small, `${(large / small).toFixed(1)} times as long for ${TIMES} times as much`);
        });
});
