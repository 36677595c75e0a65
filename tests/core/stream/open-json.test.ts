import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { OpenJson } from "../../../core/stream/open-json.ts";

function after(...pieces: readonly string[]): OpenJson {
  const json = new OpenJson();
  for (const piece of pieces) json.read(Buffer.from(piece), 0, Buffer.byteLength(piece));
  return json;
}

const objects: readonly string[] = [
  "{}",
  '{"a":1}',
  ' {\t"a" : -1.5e+30 , "b":0.25,"c":1E-7}',
  '{"a":[1,2,[],[[3]],{},{"b":{"c":null}}],"d":true,"e":false}',
  '{"a":"\\"\\\\\\/\\b\\u00e9\\ud83d\\ude00 {[,:]}","":"","b\\"c":"x"}',
  '{"error":null,"a":{"error":{"x":1,"y":2}}}',
  '{"a":{"b":1,"c":2},"d":[true,false,null]}',
];

describe("a text that is an object", () => {
  for (const text of objects) {
    it(`${text} takes another member wherever it is cut`, () => {
      for (let cut = text.indexOf("{") + 1; cut < text.length; cut++) {
        const json = after(text.slice(0, cut));
        assert.ok(json.isObject, `cut at ${cut}`);
        const completed = `${text.slice(0, cut)}${json.completion()}"error":"own"}`;
        assert.equal((JSON.parse(completed) as { error: unknown }).error, "own", completed);
        assert.equal(after(...text.slice(0, cut)).completion(), json.completion(), "byte by byte");
      }
      const whole = after(text);
      assert.equal(whole.isObject, false);
      assert.equal(whole.completion(), "");
    });
  }
});

const others: readonly (readonly [text: string, completion: string])[] = [
  ["", "null"],
  ["  ", "null"],
  ["[", "DONE]"],
  ["[D", "ONE]"],
  ["[DONE", "]"],
  ["[DONE]", ""],
  ["[1", "]"],
  ['[1,"x', '"]'],
  ["[[", "]]"],
  ["[{", "}]"],
  ['"a', '"'],
  ["1", ""],
  ["1.", "0"],
  ["-", "0"],
  ["tr", "ue"],
  ["fals", "e"],
  ["n", "ull"],
  ["null", ""],
];

describe("a text that is no object", () => {
  for (const [text, completion] of others) {
    it(`${JSON.stringify(text)} is completed with ${JSON.stringify(completion)}`, () => {
      assert.equal(after(text).completion(), completion);
      assert.equal(after(text).isObject, false);
      assert.equal(after(text).isEmpty, text.trim() === "");
    });
  }
});

const broken: readonly string[] = [
  "hello",
  "{x",
  '{"a"1',
  '{"a":1]',
  '{"a":}',
  '{,"',
  "[1,]",
  "{} {",
  "trux",
  "[DONT",
  '{"a":nul}',
  "[".repeat(600),
];

describe("what is no JSON", () => {
  for (const text of broken) {
    it(`${JSON.stringify(text.slice(0, 20))} gets nothing`, () => {
      const json = after(text, '"a":1,"b"');
      assert.equal(json.isObject, false);
      assert.equal(json.completion(), "");
    });
  }
});

describe("a text in several lines", () => {
  const lines: readonly (readonly [first: string, isObject: boolean, completion: string])[] = [
    ['{"a":', true, "null,"],
    ['{"a":1', true, ","],
    ['{"a":1,', true, ""],
    ["{", true, ""],
    ['{"a":"x', false, ""],
    ['{"a":"x\\', false, ""],
    ['{"a":"\\u00', false, ""],
    ['{"a":tr', false, ""],
  ];
  for (const [first, isObject, completion] of lines) {
    it(`${first} ${isObject ? "can" : "can't"} go on in another`, () => {
      const json = after(first);
      json.lineEnded();
      assert.equal(json.isObject, isObject);
      assert.equal(json.completion(), completion);
    });
  }
});
