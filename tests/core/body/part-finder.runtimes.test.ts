import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { BodyScanner } from "../../../core/body/scan.ts";
import type { PromptPart } from "../../../core/contract/prompt-part.ts";
import { utf8 } from "./verdict.ts";

const KEYS = ["model", "tools", "system", "messages", "input"];
const CONVERSATIONS = ["messages", "input"];
const DATA = "iVBORw0KGgo".repeat(20);
const PNG = `data:image/png;base64,${DATA}`;
const IMAGE = { type: "image_url", image_url: { url: PNG } };
const BASE64 = { type: "base64", media_type: "image/png", data: DATA };

function scan(text: string, cuts: readonly number[] = []): readonly PromptPart[] {
  const bytes = utf8(text);
  const scanner = new BodyScanner(KEYS, 200, CONVERSATIONS);
  for (const cut of cuts) scanner.push(bytes, Math.min(cut, bytes.length));
  scanner.finish(bytes, bytes.length);
  return scanner.parts;
}

/** Each part as its kind and the value of its string. */
function partsOf(text: string): readonly (readonly [kind: string, value: unknown])[] {
  const bytes = utf8(text);
  return scan(text).map(({ kind, span }) => [kind, JSON.parse(new TextDecoder().decode(bytes.subarray(...span)))]);
}

const chat = (...content: readonly unknown[]) => JSON.stringify({ model: "m", messages: [{ role: "user", content }] });
const input = (...items: readonly unknown[]) => JSON.stringify({ model: "m", input: items });
const source = (type: string, of: object) => ({ type, source: of });

describe("a part is found", () => {
  const pdf = "data:application/pdf;base64,JVBERi0x";
  const result = { type: "tool_result", tool_use_id: "t", content: [{ type: "text", text: "a" }, source("image", BASE64)] };
  const nested = source("document", { type: "content", content: [source("image", BASE64)] });
  const screenshot = { type: "computer_call_output", call_id: "c", output: { type: "computer_screenshot", image_url: PNG } };
  const cases: readonly [name: string, body: string, kind: string, value: string][] = [
    ["an image in a chat", chat({ type: "text", text: "What is it?" }, IMAGE), "image", PNG],
    ["whose type comes last", chat({ image_url: { detail: "high", url: PNG }, type: "image_url" }), "image", PNG],
    ["by URL", chat({ type: "image_url", image_url: { url: "http://x/1.png" } }), "image", "http://x/1.png"],
    ["in vLLM's short form", chat({ image_url: PNG }), "image", PNG],
    ["audio", chat({ type: "input_audio", input_audio: { data: DATA, format: "wav" } }), "audio", DATA],
    ["audio by URL", chat({ type: "audio_url", audio_url: { url: "https://x/a.wav" } }), "audio", "https://x/a.wav"],
    [
      "a video",
      chat({ type: "video_url", video_url: { url: "data:video/mp4;base64,AAAA" } }),
      "video",
      "data:video/mp4;base64,AAAA",
    ],
    ["a file", chat({ type: "file", file: { filename: "a.pdf", file_data: pdf } }), "file", pdf],
    ["a file's id", chat({ type: "file", file: { file_id: "file-1" } }), "file", "file-1"],
    ["an image of a message", chat(source("image", BASE64)), "image", DATA],
    ["an image of a message by URL", chat(source("image", { type: "url", url: "https://x/1.png" })), "image", "https://x/1.png"],
    ["a document", chat(source("document", { ...BASE64, media_type: "application/pdf" })), "file", DATA],
    ["the result of a tool", chat(result), "image", DATA],
    ["a document of parts", chat(nested), "image", DATA],
    ["a document of parts in a result", chat({ ...result, content: [nested] }), "image", DATA],
    ["an input image", input({ role: "user", content: [{ type: "input_image", detail: "auto", image_url: PNG }] }), "image", PNG],
    ["an input image's id", input({ role: "user", content: [{ type: "input_image", file_id: "file-1" }] }), "image", "file-1"],
    ["an input file", input({ role: "user", content: [{ type: "input_file", filename: "a", file_data: pdf }] }), "file", pdf],
    [
      "a function's output",
      input({ type: "function_call_output", output: [{ type: "input_image", image_url: PNG }] }),
      "image",
      PNG,
    ],
    ["a screenshot", input(screenshot), "image", PNG],
  ];
  for (const [name, body, kind, value] of cases) {
    test(name, () => assert.deepEqual(partsOf(body), [[kind, value]]));
  }

  test("also where spaces are around its keys", () => {
    const body = `{ "messages" : [ { "content" : [ { "type" : "image_url" , "image_url"\n: {\t"url" :\r\n "${PNG}" } } ] } ] }`;
    assert.deepEqual(partsOf(body), [["image", PNG]]);
  });

  test("also where each slash is escaped", () => {
    const body = chat({ type: "image_url", image_url: { url: "data:image/jpeg;base64,/9j/4AA" } }).replaceAll("/", "\\/");
    assert.deepEqual(partsOf(body), [["image", "data:image/jpeg;base64,/9j/4AA"]]);
    assert.equal(scan(body)[0]?.isInline, true);
  });

  test("with where its data are", () => {
    const inline = (body: string) => scan(body).map(({ isInline }) => isInline);
    const byUrl = { type: "image_url", image_url: { url: "https://x" } };
    assert.deepEqual(inline(chat(IMAGE, byUrl, source("image", BASE64))), [true, false, true]);
  });
});

describe("what an engine reads as text stays text", () => {
  const long = "word ".repeat(500);
  const cases: readonly [name: string, body: string][] = [
    ["a data URL in a text", chat({ type: "text", text: PNG })],
    ["a data URL as a message", JSON.stringify({ messages: [{ role: "user", content: PNG }] })],
    ["a prompt that looks like parts", JSON.stringify({ tools: [{ content: [IMAGE] }], system: [IMAGE] })],
    ["the input of a tool", chat({ type: "tool_use", input: { content: [IMAGE], source: BASE64, url: PNG } })],
    ["a call's arguments", chat({ type: "x", arguments: { image_url: { url: PNG } } })],
    ["a document of text", chat(source("document", { type: "text", media_type: "text/plain", data: long }))],
    ["a text file", chat({ type: "file", file: { file_data: "data:text/plain;base64,AAAA" } })],
    ["a text document in base64", chat(source("document", { ...BASE64, media_type: "text/markdown" }))],
    ["a source that says no form", chat(source("image", { data: DATA }))],
    ["another type", chat({ type: "text", text: "", image_url: { url: PNG } }, { type: "text", source: BASE64 })],
    [
      "a list where a string belongs",
      chat({ type: "image_url", image_url: [PNG] }, { type: "image_url", image_url: { url: [PNG] } }),
    ],
    ["lists in lists", JSON.stringify({ messages: [[{ content: [IMAGE] }]] })],
    ["two strings in one part", chat({ ...IMAGE, data: long })],
    ["the same key twice", chat(IMAGE).replace(`"url":`, `"url":"${long}","url":`)],
    ["a key with escapes", chat(IMAGE).replace(`"url"`, `"u\\u0072l"`)],
    ["a part with much beside", chat({ ...IMAGE, note: long })],
    [
      "an object too deep",
      JSON.stringify({ messages: [JSON.parse(`${'{"content":['.repeat(20)}${JSON.stringify(IMAGE)}${"]}".repeat(20)}`)] }),
    ],
    ["a key that only ends like one", chat({ type: "image_url", image_url: { 'my"url': PNG } })],
    ["a string that is the conversation", JSON.stringify({ input: PNG })],
    ["a source whose type is no text", chat(source("document", { type: { toString: 1 }, data: DATA }))],
    ["prototype names", chat(source("image", { type: "constructor", data: DATA }), { type: "__proto__", url: PNG })],
  ];
  for (const [name, body] of cases) test(name, () => assert.deepEqual(partsOf(body), []));

  test("a source of which the last type counts", () => {
    const twice = `{"type":"document","source":{"type":"base64","data":"${DATA}","type":"text"}}`;
    assert.deepEqual(partsOf(`{"messages":[{"content":[${twice}]}]}`), []);
  });
});

test("each of many parts is found, up to a bound", () => {
  const images = Array.from({ length: 3_000 }, () => IMAGE);
  assert.equal(scan(chat(...images.slice(0, 600))).length, 600);
  assert.equal(scan(chat(...images)).length, 640);
});

test("a body without parts leaves nothing to the next one", () => {
  const unfinished = `{"messages":[{"content":[{"url":"${PNG}"}`;
  assert.throws(() => scan(unfinished));
  for (let round = 0; round < 3; round++) {
    assert.deepEqual(scan(chat({ type: "text", text: "hello", url: PNG })), []);
    assert.equal(scan(chat(IMAGE)).length, 1);
  }
});

test("the parts do not depend on where chunks end", () => {
  const text = fc.string({ unit: fc.constantFrom("a", '"', "\\", "/", "é", ":", "{", " ") });
  const other = fc.oneof(text, fc.jsonValue({ maxDepth: 2 }));
  const part = fc.oneof(
    fc.constantFrom(
      IMAGE,
      source("image", BASE64),
      { image_url: PNG },
      { type: "tool_result", content: [source("image", BASE64)] },
    ),
    fc.record(
      { type: fc.constantFrom("image_url", "text", "image"), url: text, image_url: fc.record({ url: text }), note: other },
      { requiredKeys: [] },
    ),
    fc.record({
      type: fc.constantFrom("image", "document"),
      source: fc.record({ type: fc.constantFrom("base64", "text"), data: text }),
    }),
  );
  const body = fc.record({
    model: text,
    messages: fc.array(fc.record({ role: text, content: fc.oneof(text, fc.array(part)) })),
    tools: other,
  });
  fc.assert(
    fc.property(body, fc.array(fc.nat({ max: 900 }), { maxLength: 10 }), fc.boolean(), (value, places, isSpaced) => {
      const json = JSON.stringify(value, undefined, isSpaced ? 1 : 0);
      const cuts = [...places].sort((a, b) => a - b);
      assert.deepEqual(scan(json, cuts), scan(json));
      const bytes = utf8(json);
      let before = 0;
      for (const { span } of scan(json)) {
        assert.ok(span[0] >= before && span[1] > span[0], "in order, without overlap");
        assert.equal(typeof JSON.parse(new TextDecoder().decode(bytes.subarray(...span))), "string");
        before = span[1];
      }
    }),
    { numRuns: 300 },
  );
});
