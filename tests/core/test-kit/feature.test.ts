import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RouterError } from "../../../core/contract/errors.ts";
import type { Feature } from "../../../core/contract/feature.ts";
import { defineFeature } from "../../../core/contract/plugin.ts";
import { makeRequest } from "../../../core/contract/test-kit.ts";
import { checkFeature, makeRun, playFeature } from "../../../core/test-kit.ts";

const fail = () => {
  throw new Error("broken on purpose");
};
const feature = (plugin: object) => defineFeature({ type: "mine", summary: "", create: () => plugin as Feature });

describe("checkFeature finds", () => {
  const cases: readonly (readonly [name: string, plugin: object, fault: RegExp])[] = [
    ...["enter", "admit", "answer", "tap", "lines", "settled", "explain"].map(
      (slot) =>
        [`a fault in ${slot}`, { [slot]: fail }, /^Error: The feature "mine", with a chat request: broken on purpose/] as const,
    ),
    ["a promise where nothing waits", { lines: async () => "" }, /promise|lines must return/],
    ["a part of a header line", { lines: () => "x-a: 1" }, /complete lines/],
    ["an answer that is none", { answer: () => ({ status: 200 }) }, /answer has no headers/],
    ["a write into what it is given", { enter: (run: object) => void Object.assign(run, { peer: "me" }) }, /peer/],
    [
      "a write into a request",
      { settled: ({ request }: { request: object }) => void Object.assign(request, { target: "me" }) },
      /"target" was written/,
    ],
    [
      "what it takes for granted: a body",
      { enter: ({ body }: { body: { bytes: object } }) => void body.bytes },
      /with a request without a body/,
    ],
    ["a fault in a tap", { tap: () => ({ read: fail, end() {} }) }, /broken on purpose/],
    ["a note that is no text", { explain: () => [5] }, /list of sentences/],
  ];
  for (const [name, plugin, fault] of cases) it(name, () => assert.rejects(checkFeature(feature(plugin)), fault));

  it("nothing where a feature refuses by a RouterError, or fills no slot", async () => {
    const refusing = () => {
      throw new RouterError("model_not_allowed", "Not you.");
    };
    for (const plugin of [{}, { enter: refusing }, { admit: refusing }, { answer: async () => refusing() }])
      await checkFeature(feature(plugin));
  });
});

describe("playFeature", () => {
  it("says what came of the request", async () => {
    const refused = await playFeature(
      {
        admit({ parsed }) {
          if (parsed?.model === "b") throw new RouterError("model_not_allowed", "Not b.");
          return undefined;
        },
        explain: ({ status, error }) => [`${status} ${error?.code}`],
      },
      makeRun({ parsed: makeRequest({ model: "b" }) }),
    );
    assert.deepEqual([refused.refusal?.code, refused.notes], ["model_not_allowed", ["403 model_not_allowed"]]);
    const waiting = await playFeature({ admit: () => ({ leave() {} }) }, makeRun());
    assert.equal(waiting.waits, true);
    const answered = await playFeature({ answer: async () => ({ status: 201, headers: {}, body: "yes" }) }, makeRun());
    assert.deepEqual([answered.answer?.status, answered.faults], [201, []]);
  });

  it("passes the response to a tap as it is told to", async () => {
    const said: unknown[] = [];
    const tap = () => ({
      read: (chunk: Uint8Array) => said.push(new TextDecoder().decode(chunk)),
      end: (isWhole: boolean) => said.push(isWhole),
    });
    await playFeature({ tap } as unknown as Feature, makeRun(), { chunks: ["a", "b"], isWhole: false });
    assert.deepEqual(said, ["a", "b", false]);
  });
});
