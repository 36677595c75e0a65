/** Images, audio and files in prompts, as the SDKs write them. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";
import { pngOf } from "../support/png.ts";
import { type AccessLine, startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";

interface Line extends AccessLine {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly predictedCachedTokens: number;
}

/** What a plugin sees of a request. */
interface Sight {
  readonly tokens: number;
  readonly parts: readonly (readonly [kind: string, text: string, tokens: number])[];
}

/** 36 x 36 tokens for the mock replica. */
const PIXELS = 1_008;
const ENGINE_TOKENS = 1_296;
const PNG = pngOf(PIXELS, PIXELS, 768 * 1024);
const PNG_URL = `data:image/png;base64,${PNG}`;
const PDF = Buffer.from(`%PDF-1.7${"page".repeat(25_000)}`).toString("base64");
const WAV = Buffer.alloc(64_000, 7).toString("base64");
const SPEC = "  plugins: [ { type: prefix-cache }, { type: watcher } ]\n";
const model = "base";

describe("prompts that are not text", () => {
  const seen: Sight[] = [];
  const watcher = defineScorer({
    type: "watcher",
    summary: "Looks on",
    options: z.strictObject({}),
    create: () => ({
      score: ({ promptTokens, promptParts, body }) => {
        const text = ([start, end]: readonly [number, number]) => Buffer.from(body.subarray(start, end)).toString();
        const parts = promptParts.map(({ kind, span, tokens }) => [kind, JSON.parse(text(span)) as string, tokens] as const);
        seen.push({ tokens: promptTokens, parts });
        return null;
      },
    }),
  });
  let replica: MockReplica;
  let router: TestRouter;
  let openai: OpenAI;
  let anthropic: Anthropic;

  before(async () => {
    replica = await startMockReplica({ model, timeScale: 0 });
    router = await startTestRouter([replica.url], { spec: SPEC, plugins: [watcher] });
    openai = new OpenAI({ baseURL: `${router.url}/v1`, apiKey: "unused", maxRetries: 0, logLevel: "off" });
    anthropic = new Anthropic({ baseURL: router.url, apiKey: "unused", maxRetries: 0, logLevel: "off" });
  });
  after(async () => {
    await router?.close();
    await replica?.close();
  });
  beforeEach(() => void seen.splice(0));

  const chat = (...content: OpenAI.ChatCompletionContentPart[]) =>
    openai.chat.completions.create({ model, max_tokens: 1, messages: [{ role: "user", content }] });
  const respond = (...content: OpenAI.Responses.ResponseInputContent[]) =>
    openai.responses.create({ model, max_output_tokens: 16, store: false, input: [{ role: "user", content }] });
  const message = (...content: Anthropic.ContentBlockParam[]) =>
    anthropic.messages.create({ model, max_tokens: 1, messages: [{ role: "user", content }] });
  const image = (url: string): OpenAI.ChatCompletionContentPart => ({ type: "image_url", image_url: { url } });
  const source = { type: "base64", media_type: "image/png", data: PNG } as const;

  /** `tokens`: of the part, before anything was learned. */
  const cases: readonly [name: string, send: () => Promise<unknown>, kind: string, text: string, tokens: number][] = [
    ["chat: an image", () => chat({ type: "text", text: "What is it?" }, image(PNG_URL)), "image", PNG_URL, 1_000],
    ["chat: an image by URL", () => chat(image("https://x/1.png")), "image", "https://x/1.png", 1_000],
    ["chat: audio", () => chat({ type: "input_audio", input_audio: { data: WAV, format: "wav" } }), "audio", WAV, 63],
    ["chat: a file", () => chat({ type: "file", file: { filename: "a.pdf", file_data: PDF } }), "file", PDF, 3_125],
    ["messages: an image", () => message({ type: "image", source }), "image", PNG, 1_000],
    [
      "messages: a document",
      () => message({ type: "document", source: { type: "base64", media_type: "application/pdf", data: PDF } }),
      "file",
      PDF,
      3_125,
    ],
    [
      "messages: the result of a tool",
      () => message({ type: "tool_result", tool_use_id: "t", content: [{ type: "image", source }] }),
      "image",
      PNG,
      1_000,
    ],
    ["responses: an image", () => respond({ type: "input_image", detail: "auto", image_url: PNG_URL }), "image", PNG_URL, 1_000],
    ["responses: a file", () => respond({ type: "input_file", filename: "a.pdf", file_data: PDF }), "file", PDF, 3_125],
  ];
  for (const [name, send, kind, text, tokens] of cases) {
    it(`are parts: ${name}`, async () => {
      await send();
      const [sight] = seen;
      assert.deepEqual(
        sight?.parts.map(([of, value]) => [of, value === text]),
        [[kind, true]],
      );
      const [[, , counted]] = sight!.parts as [Sight["parts"][number]];
      // What the tests before have taught counts too.
      assert.ok(counted > 0.7 * tokens && counted < 1.7 * tokens, `${counted} tokens of ${tokens}`);
      assert.ok(sight!.tokens > counted && sight!.tokens < counted + 64, `${sight!.tokens} tokens in all`);
    });
  }

  it("are not found in text", async () => {
    await chat({ type: "text", text: PNG_URL });
    assert.deepEqual(seen[0]?.parts, []);
    assert.ok(seen[0]!.tokens > 250_000);
  });

  it("are counted as replicas do, and teach nothing about text", async () => {
    const text = () => chat({ type: "text", text: "How?" });
    await text();
    for (let seed = 2; seed < 30; seed++) await chat(image(`data:image/png;base64,${pngOf(PIXELS, PIXELS, 9_000, seed)}`));
    await text();
    const tokens = seen.map((sight) => sight.tokens);
    assert.equal(tokens.at(-1), tokens[0]);
    assert.ok(Math.abs(tokens.at(-2)! - ENGINE_TOKENS) < 130, `${tokens.at(-2)} of ${ENGINE_TOKENS} tokens`);
  });

  it("are prefixes: of the same image, not of another", async () => {
    const [cat, dog] = [31, 32].map((seed) => image(`data:image/png;base64,${pngOf(PIXELS, PIXELS, 300_000, seed)}`));
    const begin = router.log.length;
    const question = (text: string) => ({ type: "text", text: `${text} `.repeat(300) }) as const;
    await chat(cat!, question("what"));
    await chat(cat!, question("who"));
    await chat(dog!, question("what"));
    await waitUntil(() => router.log.length === begin + 3);
    const lines = router.log.slice(begin) as Line[];
    assert.deepEqual(
      lines.map(({ cachedTokens }) => cachedTokens > 1_000),
      [false, true, false],
    );
    for (const { cachedTokens, predictedCachedTokens, promptTokens } of lines) {
      assert.ok(
        Math.abs(cachedTokens - predictedCachedTokens) < 0.15 * promptTokens,
        `${predictedCachedTokens} of ${cachedTokens}`,
      );
    }
  });
});
