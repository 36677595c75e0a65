import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readUsage } from "../../../core/stream/read-usage.ts";

const NONE = Number.NaN;
const count = fc.oneof(fc.integer({ min: 0, max: 999_999_999 }), fc.constant(null));
interface Reported {
  readonly prompt_tokens?: number | null;
  readonly completion_tokens?: number | null;
  readonly prompt_tokens_details?: {
    readonly cached_tokens?: number | null;
    readonly multimodal_tokens?: Readonly<Record<string, number | null>> | null;
  } | null;
}

/** An object with some of the keys, in any order, one of them within another object. */
const usage: fc.Arbitrary<Reported> = fc
  .record(
    {
      prompt_tokens: count,
      completion_tokens: count,
      total_tokens: count,
      prompt_tokens_details: fc.option(
        fc.record(
          {
            audio_tokens: count,
            cached_tokens: count,
            multimodal_tokens: fc.option(fc.record({ image: count, audio: count, video: count }, { requiredKeys: [] })),
            note: fc.constant("}"),
          },
          { requiredKeys: [] },
        ),
      ),
      cost: fc.double({ noNaN: true }),
    },
    { requiredKeys: [] },
  )
  .chain((object) =>
    fc
      .shuffledSubarray(Object.entries(object), { minLength: Object.keys(object).length })
      .map((entries) => Object.fromEntries(entries)),
  );

test("reads what a JSON parser reads, whatever the order and the spaces", () => {
  fc.assert(
    fc.property(usage, fc.constantFrom(undefined, 1, "\t"), (object, space) => {
      const text = JSON.stringify({ choices: [], usage: object }, undefined, space);
      const parts = Object.values(object.prompt_tokens_details?.multimodal_tokens ?? {}).filter((value) => value !== null);
      const expected = {
        promptTokens: object.prompt_tokens ?? NONE,
        outputTokens: object.completion_tokens ?? NONE,
        cachedTokens: object.prompt_tokens_details?.cached_tokens ?? undefined,
        ...(parts.length > 0 && { partTokens: parts.reduce((sum, value) => sum + value, 0) }),
      };
      const isEmpty = Number.isNaN(expected.promptTokens) && Number.isNaN(expected.outputTokens);
      assert.deepEqual(read(text), isEmpty ? undefined : expected);
    }),
  );
});

test("reads no byte behind the end, and never throws", () => {
  const piece = fc.constantFrom('"usage"', ":", "{", "}", " ", '"input_tokens"', '"cached_tokens"', "12", "\\", '"', "x");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.array(piece, { maxLength: 10 }), (pieces, rest) => {
      const text = pieces.join("");
      assert.deepEqual(readUsage(Buffer.from(text + rest.join("")).subarray(0, text.length)), read(text));
    }),
  );
});

function read(text: string) {
  return readUsage(Buffer.from(text));
}
