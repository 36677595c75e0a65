import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { JsonBody, readJsonBody } from "../../../core/body/json-body.ts";
import { utf8 } from "./verdict.ts";

const read = (value: string): JsonBody =>
  readJsonBody(utf8(`{"before":"x","k":${value},"after":1}`), { keys: ["k", "absent"] }, 16);

const WANTED = {
  text: 'The value of "k" must be a string.',
  flag: 'The value of "k" must be true or false.',
  count: 'The value of "k" must be a whole number that is not negative.',
};

// The result of each reader for a value; a method's name means that it throws.
const VALUES: Record<string, readonly [kind: string, text: unknown, flag: unknown, count: unknown, elements: number]> = {
  '"food-review"': ["string", "food-review", "flag", "count", 0],
  '""': ["string", "", "flag", "count", 0],
  '"a\\nb\\u00e9\\ud83d\\ude00\\/\\\\"': ["string", "a\nbé😀/\\", "flag", "count", 0],
  '"信号所"': ["string", "信号所", "flag", "count", 0],
  '"\ufeffx"': ["string", "\ufeffx", "flag", "count", 0],
  '"\\ud800"': ["string", "\ud800", "flag", "count", 0],
  null: ["null", undefined, false, 0, 0],
  true: ["true", "text", true, "count", 0],
  false: ["false", "text", false, "count", 0],
  "0": ["number", "text", "flag", 0, 0],
  "-0": ["number", "text", "flag", 0, 0],
  "16": ["number", "text", "flag", 16, 0],
  "16.0": ["number", "text", "flag", 16, 0],
  "1e3": ["number", "text", "flag", 1000, 0],
  "-1": ["number", "text", "flag", "count", 0],
  "0.5": ["number", "text", "flag", "count", 0],
  "1e400": ["number", "text", "flag", "count", 0],
  "12345678901234567890": ["number", "text", "flag", "count", 0],
  [`1.${"0".repeat(100)}`]: ["number", "text", "flag", "count", 0],
  '{"a":[1,2]}': ["object", "text", "flag", "count", 0],
  "[]": ["array", "text", "flag", "count", 0],
  "[ ]": ["array", "text", "flag", "count", 0],
  "[7]": ["array", "text", "flag", "count", 1],
  "[7,8]": ["array", "text", "flag", "count", 2],
  "[ -1.5e+3 , 2E2,0,4e-1 ]": ["array", "text", "flag", "count", 4],
  "[1,22,333,4444,55555,666666]": ["array", "text", "flag", "count", 6],
  "[[1,2],[3],[]]": ["array", "text", "flag", "count", 3],
  "[[1,22,333,4444,55555],[666666]]": ["array", "text", "flag", "count", 6],
  '["1,2","3"]': ["array", "text", "flag", "count", 0],
  '[1,22,333,"5,6",4444,55555]': ["array", "text", "flag", "count", 0],
  "[1,22,333,4444,true,55555,666666]": ["array", "text", "flag", "count", 0],
  "[[1,22,333],[],[4444,55555]]": ["array", "text", "flag", "count", 5],
  "[true,null,false]": ["array", "text", "flag", "count", 0],
  '[{"a":1}]': ["array", "text", "flag", "count", 0],
};

for (const [value, [kind, text, flag, count, elements]] of Object.entries(VALUES)) {
  test(`${value.slice(0, 40)} read by every reader`, () => {
    const body = read(value);
    assert.equal(body.kind("k"), kind);
    assert.equal(new TextDecoder("utf-8", { ignoreBOM: true }).decode(body.bytes.subarray(...body.span("k")!)), value);
    assert.equal(
      outcome(() => body.text("k")),
      text,
    );
    assert.equal(
      outcome(() => body.flag("k")),
      flag,
    );
    assert.ok(
      Object.is(
        outcome(() => body.count("k")),
        count,
      ),
    );
    assert.equal(body.countElements("k"), elements);
  });
}

function outcome(read: () => unknown): unknown {
  try {
    return read();
  } catch (thrown) {
    const { code, message } = thrown as { code: string; message: string };
    assert.equal(code, "invalid_value");
    return Object.entries(WANTED).find(([, sentence]) => sentence === message)?.[0];
  }
}

test("a missing key gives the empty result of each reader", () => {
  const body = read("1");
  assert.equal(body.kind("absent"), "missing");
  assert.equal(body.span("absent"), undefined);
  assert.equal(body.text("absent"), undefined);
  assert.equal(body.flag("absent"), false);
  assert.equal(body.count("absent"), 0);
  assert.equal(body.countElements("absent"), 0);
  assert.equal(body.textIn("absent", "id"), undefined);
});

describe("a text in an object", () => {
  const rows: readonly (readonly [value: string, wanted: string | undefined | RegExp])[] = [
    ['{"id":"a"}', "a"],
    ['{ "b" : {"id":"no"}, "\\u0069d" : "\\u0061\\"" }', 'a"'],
    ['{"id":null}', undefined],
    ["{}", undefined],
    ["null", undefined],
    ['"a"', undefined],
    ['[{"id":"a"}]', undefined],
    ['{"id":7}', /"k.id" must be a string, and stand there once/],
    ['{"id":["a"]}', /must be a string/],
    ['{"id":"a","id":"b"}', /stand there once/],
    ['{"id":"a","i\\u0064":null}', /stand there once/],
    [`{"id":"a"${" ".repeat(65_536)}}`, /longer than 65536 bytes/],
  ];
  for (const [value, wanted] of rows)
    test(value.slice(0, 40), () => {
      const reading = () => read(value).textIn("k", "id");
      if (wanted instanceof RegExp) assert.throws(reading, wanted);
      else assert.equal(reading(), wanted);
    });
});

test("a string that is not UTF-8 is refused when it is read", () => {
  const bytes = utf8('{"model":"abc","user":"abc"}');
  bytes[11] = 0xff;
  const body = readJsonBody(bytes, { keys: ["model", "user"] }, 4);
  assert.throws(() => body.text("model"), {
    code: "invalid_value",
    message: 'The value of "model" is not valid UTF-8; send the body in UTF-8.',
  });
  assert.equal(body.text("user"), "abc");
});

test("a string of more than 64 KiB is refused when it is read, escapes or not", () => {
  for (const unit of ["x", "\\u006d"]) {
    const body = read(`"${unit.repeat(65_536 / unit.length + 1)}"`);
    assert.throws(() => body.text("k"), {
      code: "invalid_value",
      message: 'The value of "k" is longer than 65536 bytes; send a shorter one.',
    });
  }
});

test("a long string is decoded as well", () => {
  const text = "Ünïcode and \n escapes ".repeat(500);
  assert.equal(read(JSON.stringify(text)).text("k"), text);
});

describe("numbers in an array", () => {
  test("are counted at every alignment", () => {
    for (let length = 0; length < 40; length++) {
      for (let offset = 0; offset < 4; offset++) {
        const ids = Array.from({ length }, (_, n) => (n * 7919) % 1000);
        const body = readJsonBody(utf8(`${" ".repeat(offset)}{"k":${JSON.stringify(ids)}}`), { keys: ["k"] }, 16);
        assert.equal(body.countElements("k"), length);
      }
    }
  });
});

test("numbers in an array of more than a megabyte are counted in its beginning, within 1 %", () => {
  const ids = (length: number) => Array.from({ length }, (_, n) => 100_000 + n);
  for (const array of [ids(400_000), [ids(200_000), ids(200_000)]]) {
    const count = read(JSON.stringify(array)).countElements("k");
    assert.ok(Math.abs(count / 400_000 - 1) < 0.01, `${count}`);
  }
  assert.equal(read(JSON.stringify(Array.from({ length: 300_000 }, () => "text"))).countElements("k"), 0);
});

test("the body ends where its length says", () => {
  const storage = utf8('{"k":1}garbage');
  const spans = readJsonBody(storage.subarray(0, 7), { keys: ["k"] }, 4);
  const body = new JsonBody(storage, 7, { parts: [], spanOf: (key) => spans.span(key) });
  assert.equal(body.bytes.length, 7);
  assert.equal(body.count("k"), 1);
  assert.equal(new JsonBody(storage, 14, { parts: [], spanOf: () => undefined }).bytes, storage);
});
