import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Dialect, RouterError } from "../../../core/contract/errors.ts";
import { lastWords } from "../../../core/errors/dialects.ts";
import { type CutEvent, OpenEvent } from "../../../core/stream/open-event.ts";
import { readEventSource } from "../../support/event-source.ts";
import { brokenResponse, whatSdkSees } from "../../support/sdk-streams.ts";

function after(...pieces: readonly (string | Uint8Array)[]): OpenEvent {
  const event = new OpenEvent();
  for (const piece of pieces) {
    const lent = Buffer.from(piece as string);
    if (lent.length > 0) event.read(lent, 0, lent.length);
    lent.fill("X"); // reads share their memory
  }
  return event;
}

const singles = (bytes: Uint8Array) => Array.from(bytes, (byte) => Uint8Array.of(byte));

describe("what has to come before an error", () => {
  const cases: readonly (readonly [stream: string, expected: Partial<CutEvent>])[] = [
    ["", { text: "", object: "none" }],
    ["data: 1\n\n", { text: "", object: "none" }],
    ["data: 1\r\n\r\n", { text: "", object: "none" }],
    ["data: 1\r\n\r", { text: "\n", object: "none" }],
    ["data: 1\r\r", { text: "\n", object: "none" }],
    ["\n\n\n", { text: "", object: "none" }],
    // Between the lines of an event.
    ["event: a\n", { text: "data: {", object: "ours", hasName: true }],
    ["event: a\r", { text: "\ndata: {", object: "ours", hasName: true }],
    [": comment\n", { text: "data: {", object: "ours", hasName: false }],
    ["data\n", { text: "data: {", object: "ours" }],
    ["data: {}\n", { text: "\n", object: "none" }],
    ["data: {}\r", { text: "\n\n", object: "none" }],
    ['data: {"a":\n', { text: "data: null,", object: "theirs" }],
    ["data: [1,\n", { text: "data: null]\n\n", object: "none" }],
    // In a field's name.
    ["d", { text: "-\ndata: {", object: "ours" }],
    ["data", { text: "-\ndata: {", object: "ours" }],
    ["event: a\neve", { text: "-\ndata: {", object: "ours", hasName: true }],
    ["data: {}\nid", { text: "-\n\n", object: "none" }],
    // In a line that is no data.
    [": keep", { text: "\ndata: {", object: "ours" }],
    ["event: a", { text: "\ndata: {", object: "ours", hasName: true }],
    ["id: 1", { text: "\ndata: {", object: "ours", hasName: false }],
    ["dat: {", { text: "\ndata: {", object: "ours" }],
    ["datas: {", { text: "\ndata: {", object: "ours" }],
    // In data.
    ["data:", { text: "{", object: "ours" }],
    ["data: ", { text: "{", object: "ours" }],
    ["data: {", { text: "", object: "theirs" }],
    ['data: {"a":"b', { text: '",', object: "theirs" }],
    ["data:{}", { text: "\n\n", object: "none" }],
    ["data: [DO", { text: "NE]\n\n", object: "none" }],
    ["data: hello", { text: "\n\n", object: "none" }],
  ];
  for (const [stream, expected] of cases) {
    it(JSON.stringify(stream), () => {
      const cut = after(stream).cut();
      for (const [key, value] of Object.entries(expected)) assert.deepEqual(cut[key as keyof CutEvent], value, key);
      assert.deepEqual(after(...singles(Buffer.from(stream))).cut(), cut, "byte by byte");
      assert.deepEqual(after(`data: {"x":[\n\n${stream}`).cut(), cut, "behind another event");
      const long = 'data: {"x":"y"}\n'.repeat(100);
      assert.deepEqual(after(long, `${long}\n${stream}`).cut(), cut, "behind one in two reads");
    });
  }

  const characters: readonly (readonly [character: string, ends: readonly string[]])[] = [
    ["é", ["80"]],
    ["ࠀ", ["a080", "80"]],
    ["漢", ["8080", "80"]],
    ["😀", ["908080", "8080", "80"]],
    ["\u{10ffff}", ["808080", "8080", "80"]],
  ];
  for (const [character, ends] of characters) {
    it(`the rest of a character of ${ends.length + 1} bytes (${character.codePointAt(0)?.toString(16)})`, () => {
      const bytes = Buffer.from(`data: {"a":"é漢😀${character}`);
      assert.deepEqual(after(bytes).cut().characterEnd, []);
      for (const [index, end] of ends.entries()) {
        const { characterEnd, text } = after(bytes.subarray(0, bytes.length - ends.length + index)).cut();
        assert.equal(Buffer.from(characterEnd).toString("hex"), end);
        assert.equal(text, '",');
        const completed = Buffer.concat([bytes.subarray(0, bytes.length - ends.length + index), Uint8Array.from(characterEnd)]);
        new TextDecoder("utf-8", { fatal: true }).decode(completed);
      }
    });
  }
});

describe("a byte order mark", () => {
  const cases: readonly (readonly [name: string, stream: string, text: string])[] = [
    ["is no part of a name at the very beginning", "\ufeffdata: {", ""],
    ["counts once", "\ufeff\ufeffdata: {", "\ndata: {"],
    ["counts not behind an event", "data: 1\n\n\ufeffdata: {", "\ndata: {"],
    ["counts not behind an empty line", "\n\ufeffdata: {", "\ndata: {"],
    ["is more than its first byte", "\ufffddata:", "\ndata: {"],
  ];
  for (const [name, stream, text] of cases) {
    it(name, () => {
      assert.equal(after(stream).cut().text, text);
      assert.equal(after(...singles(Buffer.from(stream))).cut().text, text, "byte by byte");
    });
  }
});

describe("whether a stream is between two events", () => {
  const cases: readonly (readonly [stream: string, isBetween: boolean])[] = [
    ["", true],
    ["data: 1\n\n", true],
    ["data: 1\r\n\r\n", true],
    ["data: 1\r\r", true],
    ["data: 1\n\n\n", true],
    ["data: 1\n", false],
    ["data: 1\r\n", false],
    ["d", false],
    [":", false],
  ];
  for (const [stream, isBetween] of cases) {
    it(`${JSON.stringify(stream)}: ${isBetween}`, () => {
      assert.equal(after(stream).isBetween(), isBetween);
      assert.equal(after(...singles(Buffer.from(stream))).isBetween(), isBetween);
      const asked = after(stream);
      asked.isBetween();
      assert.deepEqual(asked.cut(), after(stream).cut(), "asking changes nothing");
    });
  }
});

const ERROR = new RouterError("upstream_reset", "The replica closed.");

const streams: readonly { readonly dialect: Dialect; readonly before: string; readonly event: string }[] = [
  {
    dialect: "openai",
    before: 'data: {"id":1}\n\n',
    event:
      ': hi\ndata: {"id":"a\\n\\u00e9","n":[1,-2.5e+3,{"a":null,"b":true},[],{}],"choices":[{"delta":{"content":"é漢😀"}}]}\n\n',
  },
  { dialect: "openai", before: "", event: 'event: chunk\nid: 7\ndata:{"choices":\ndata: [] }\n\n' },
  {
    dialect: "responses",
    before: 'event: response.created\ndata: {"type":"response.created"}\n\n',
    event: 'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"漢 \\"a","l":[]}\n\n',
  },
  {
    dialect: "anthropic",
    before: 'event: message_start\ndata: {"type":"message_start","message":{}}\n\n',
    event: 'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"text":"é","n":12}}\n\n',
  },
];

describe("an event that is cut anywhere", () => {
  for (const [index, { dialect, before, event }] of streams.entries()) {
    for (const lineEnd of ["\n", "\r\n", "\r"]) {
      it(`is read as the router's error (${dialect} ${index}, lines end with ${JSON.stringify(lineEnd)})`, async () => {
        const first = Buffer.from(before.replaceAll("\n", lineEnd));
        const all = Buffer.from((before + event).replaceAll("\n", lineEnd));
        for (let cut = first.length; cut <= all.length; cut++) {
          const bytes = all.subarray(0, cut);
          const words = lastWords(ERROR, dialect, "req-1", after(bytes).cut());
          const fetch = async () => brokenResponse(bytes, words);
          assert.equal(await whatSdkSees(dialect, { url: "http://unused", fetch }), "APIError upstream_reset", `cut at ${cut}`);
          checkEventSource(dialect, Buffer.concat([bytes, words]), readEventSource(first).length);
        }
      });
    }
  }

  it("is completed where it can only be the end of OpenAI's streams: packages then miss the connection's end, not the text", async () => {
    const all = Buffer.from('data: {"id":1}\n\ndata: [DONE]\n\n');
    for (let cut = all.indexOf("["); cut <= all.length; cut++) {
      const bytes = all.subarray(0, cut);
      const words = lastWords(ERROR, "openai", "req-1", after(bytes).cut());
      if (cut === all.indexOf("[")) continue;
      assert.equal(readEventSource(Buffer.concat([bytes, words])).at(-2)?.data, "[DONE]");
      const seen = await whatSdkSees("openai", { url: "http://unused", fetch: async () => brokenResponse(bytes, words) });
      assert.equal(seen, "TypeError");
    }
  });
});

/** The last event of a stream is the error, and everything after the whole events is JSON with the error in it. */
function checkEventSource(dialect: Dialect, bytes: Uint8Array, before: number): void {
  const events = readEventSource(bytes).slice(before);
  const last = events.at(-1);
  assert.equal(last?.type, dialect === "openai" ? "message" : "error");
  for (const { data } of events) JSON.parse(data);
  const { error } = JSON.parse(last?.data ?? "") as { error: { code: string; message: string } };
  assert.deepEqual([error.code, error.message], [ERROR.code, ERROR.message]);
}
