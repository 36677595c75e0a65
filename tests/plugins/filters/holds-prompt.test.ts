import assert from "node:assert/strict";
import { describe, it } from "node:test";
import servesModel from "../../../plugins/filters/serves-model.ts";
import { makeEndpoint, makeLoad, makeRequest } from "../../support/endpoints.ts";
import { createPlugin } from "../../support/plugins.ts";

const filter = createPlugin(servesModel);

/** An endpoint for each context length; undefined: it does not say. */
const poolOf = (lengths: readonly (number | undefined)[]) =>
  lengths.map((contextTokens, slot) =>
    makeEndpoint(slot, contextTokens === undefined ? {} : { modelCards: { base: { contextTokens } } }),
  );

const slotsFor = (request: Parameters<typeof makeRequest>[0], lengths: readonly (number | undefined)[]) =>
  filter.filter(makeRequest(request), poolOf(lengths), makeLoad(lengths.length), Math.random).map(({ slot }) => slot);

describe("a replica whose context is too short by estimate", () => {
  const rows: readonly (readonly [
    name: string,
    tokens: number,
    output: number,
    lengths: readonly (number | undefined)[],
    kept: readonly number[],
  ])[] = [
    ["is kept while the prompt is short", 100, 0, [4096, 32_768], [0, 1]],
    ["is left out where another one is long enough", 3_500, 0, [4096, 32_768], [1]],
    ["is left out for the answer's sake too", 100, 4_000, [4096, 32_768], [1]],
    ["is left out where another one does not say", 9_000, 0, [4096, undefined], [1]],
    ["is kept where all are as short, since estimates err", 9_000, 0, [4096, 4096], [0, 1]],
    ["is left out where a longer one is too short as well", 90_000, 0, [4096, 32_768], [1]],
    ["is kept where nobody says", 9_000_000, 0, [undefined, undefined], [0, 1]],
  ];
  for (const [name, promptTokens, maxOutputTokens, lengths, kept] of rows)
    it(name, () => assert.deepEqual(slotsFor({ promptTokens, maxOutputTokens }, lengths), kept));
});

describe("a prompt is refused only where it is certain that no replica can hold it", () => {
  const CONTEXT = 100;
  interface Row {
    readonly name: string;
    readonly api?: string;
    readonly prompt: string;
    readonly more?: string;
    readonly parsedTokens: number;
    readonly isRefused: boolean;
  }
  const ids = (count: number) => `[ ${Array.from({ length: count }, (_, id) => id).join(", ")}]`;
  const text = (bytes: number) => `"${"x".repeat(bytes - 2)}"`;
  const rows: readonly Row[] = [
    { name: "more ids than it", prompt: ids(101), parsedTokens: 101, isRefused: true },
    { name: "as many ids", prompt: ids(100), parsedTokens: 100, isRefused: false },
    { name: "lists of ids, which are several prompts", prompt: `[${ids(60)},${ids(60)}]`, parsedTokens: 120, isRefused: false },
    { name: "ids to cut off", prompt: ids(101), more: ',"truncate_prompt_tokens":9', parsedTokens: 101, isRefused: false },
    { name: "a text longer than any tokenizer makes it fit", prompt: text(104_000), parsedTokens: 26_000, isRefused: true },
    { name: "a text that long tokens might make fit", prompt: text(102_400), parsedTokens: 25_600, isRefused: false },
    { name: "a conversation", api: "chat-completions", prompt: text(104_000), parsedTokens: 26_000, isRefused: false },
    {
      name: "a text to embed, which engines cut in pieces",
      api: "embeddings",
      prompt: ids(500),
      parsedTokens: 500,
      isRefused: false,
    },
  ];
  for (const { name, api = "completions", prompt, more = "", parsedTokens, isRefused } of rows) {
    it(`${name}: ${isRefused ? "refused" : "sent"}`, () => {
      const start = '{"model":"base","prompt":';
      const body = Buffer.from(`${start}${prompt}${more}}`);
      const request = makeRequest({
        api,
        body,
        promptSpans: [[start.length, start.length + prompt.length]],
        promptTokens: parsedTokens,
        parsedTokens,
      });
      const pool = poolOf([CONTEXT, 50]);
      const kept = filter.filter(request, pool, makeLoad(2), Math.random);
      assert.deepEqual(
        kept.map(({ slot }) => slot),
        isRefused ? [] : [0],
      );
      if (!isRefused) return;
      const refusal = filter.refuse?.(request, pool);
      assert.deepEqual([refusal?.status, refusal?.code], [400, "context_length_exceeded"]);
      assert.match(refusal?.message ?? "", /^This model's maximum context length is 100 tokens\./);
      const [longer, shorter] = [makeEndpoint(0, { phase: "not-ready" }), pool[1]!];
      assert.equal(filter.refuse?.(request, [longer, shorter])?.status, 503, "a replica that is not ready may hold it");
    });
  }
});
