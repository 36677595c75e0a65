import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { contentTokens } from "../../../../apps/lab/mock/apis/conversation.ts";
import { pngOf } from "../../../support/png.ts";

const png = (width: number, height: number) => `data:image/png;base64,${pngOf(width, height)}`;
const base64 = (media_type: string, data: string) => ({ type: "base64", media_type, data });
const data = (bytes: number) => Buffer.alloc(bytes).toString("base64");

describe("a part has as many tokens as an engine makes of it", () => {
  const cases: readonly [name: string, part: unknown, tokens: number][] = [
    ["an image of 1024 x 1024 pixels", { type: "image_url", image_url: { url: png(1_024, 1_024) } }, 37 * 37],
    ["a tiny one", { type: "input_image", image_url: png(1, 1) }, 4],
    ["a huge one", { type: "image_url", image_url: png(100_000, 100_000) }, 16_384],
    ["one of a message", { type: "image", source: base64("image/png", pngOf(280, 140)) }, 50],
    ["one that is no PNG", { type: "image_url", image_url: { url: `data:image/jpeg;base64,${data(3_000)}` } }, 576],
    ["one by URL", { type: "image", source: { type: "url", url: "https://x/1.png" } }, 576],
    ["two seconds of sound", { type: "input_audio", input_audio: { format: "wav", data: data(64_000) } }, 50],
    ["sound by URL", { type: "audio_url", audio_url: { url: "https://x/a.wav" } }, 250],
    ["a video", { type: "video_url", video_url: { url: "https://x/v.mp4" } }, 6_272],
    ["a PDF of 250 KiB", { type: "document", source: base64("application/pdf", data(250 * 1024)) }, 6_000],
    ["a document of text", { type: "document", source: { type: "text", media_type: "text/plain", data: "four four" } }, 2],
    [
      "the result of a tool",
      { type: "tool_result", content: [{ type: "image", source: base64("image/png", pngOf(280, 140)) }] },
      50,
    ],
    ["what no engine knows", { type: "riddle", riddle: "?" }, 0],
  ];
  for (const [name, part, tokens] of cases) test(name, () => assert.equal(contentTokens([part]).length, tokens));
});

test("parts in parts end somewhere", () => {
  let part: unknown = { type: "text", text: "deep" };
  for (let level = 0; level < 5_000; level++) part = { type: "tool_result", content: [part] };
  assert.deepEqual(contentTokens([part]), []);
});

test("equal images have equal tokens, others do not", () => {
  const tokens = (width: number) => contentTokens([{ type: "image_url", image_url: { url: png(width, 280) } }]);
  assert.deepEqual(tokens(280), tokens(280));
  assert.notDeepEqual(tokens(280), tokens(281));
});
