import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BodyScanner } from "../../../core/body/scan.ts";
import { cutsOf, parsed, parsedSpan, utf8, verdict } from "./verdict.ts";

describe("a body the router takes", () => {
  const bodies: Record<string, { body: string; model: unknown }> = {
    "one key": { body: '{"model":"m"}', model: "m" },
    "white space everywhere": { body: ' \t\r\n{ "model" \n:\t"m" \r}\n ', model: "m" },
    "no model": { body: "{}", model: undefined },
    "an escaped key": { body: '{"mod\\u0065l":"m"}', model: "m" },
    "a key of escapes only": { body: '{"\\u006d\\u006F\\u0064\\u0065\\u006c":"m"}', model: "m" },
    "an escaped value": { body: '{"model":"meta-llama\\/Ll\\u0061ma \\"3\\" \\ud83d\\ude00"}', model: 'meta-llama/Llama "3" 😀' },
    "a model in CJK": { body: '{"model":"模型"}', model: "模型" },
    "a nested model before it": { body: '{"metadata":{"model":"decoy"},"model":"m"}', model: "m" },
    "a nested model after it": { body: '{"model":"m","tools":[{"model":"decoy"},["model"],{"a":{"model":"b"}}]}', model: "m" },
    "only a nested model": { body: '{"metadata":{"model":"decoy"}}', model: undefined },
    "model as a value": { body: '{"a":"model","b":"\\"model\\":1","model":"m"}', model: "m" },
    "keys that begin or end alike": { body: '{"mode":1,"models":2,"Model":3,"model ":4,"model":"m"}', model: "m" },
    "a key that only looks alike decoded": { body: '{"mod\\\\u0065l":"decoy","model":"m"}', model: "m" },
    "null as model": { body: '{"model":null}', model: null },
    "an object as model": { body: '{"model":{"model":[1,{"model":2}]}}', model: { model: [1, { model: 2 }] } },
    "a number as model": { body: '{"model":-1.5e+3}', model: -1500 },
    "a literal as model": { body: '{"model":true ,"a":false}', model: true },
    "an empty string": { body: '{"model":""}', model: "" },
    "an array as model": { body: '{"model":[ 1, 2.5,0,-0, 17,18 ,19]}', model: [1, 2.5, 0, -0, 17, 18, 19] },
    "a repeated key that is not noted": { body: '{"a":1,"a":2,"model":"m"}', model: "m" },
    "keys of Object.prototype": { body: '{"__proto__":{"model":"x"},"constructor":1,"model":"m"}', model: "m" },
    "a lone surrogate in a key": { body: '{"\\ud800":1,"model":"m"}', model: "m" },
    "a zero escape": { body: '{"a\\u0000":"\\u0000","model":"m"}', model: "m" },
    "numbers of every shape": {
      body: '{"a":[0,-0,1,0.0,1.5,1e9,1E-9,0e+0,-12.34e-56,12345678901234567890],"model":"m"}',
      model: "m",
    },
  };
  for (const [name, { body, model }] of Object.entries(bodies)) {
    test(name, () => {
      const bytes = utf8(body);
      const whole = verdict(bytes);
      assert.equal(whole.code, "ok", whole.message);
      const span = whole.spans["model"];
      assert.deepEqual(span === undefined ? undefined : parsedSpan(bytes, span), model);
      for (const cut of cutsOf(bytes, 200)) assert.deepEqual(verdict(bytes, [cut]), whole, `cut at ${cut}`);
      assert.deepEqual(verdict(bytes, cutsOf(bytes, 200)), whole, "byte by byte");
    });
  }

  test("bytes that are not UTF-8 pass inside strings", () => {
    const bytes = utf8('{"a":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxx","model":"m"}');
    bytes[20] = 0xff;
    bytes[21] = 0xc0;
    assert.equal(verdict(bytes).code, "ok");
  });
});

describe("a body the router refuses", () => {
  const notJson = (at: number) => `The body is not valid JSON at byte ${at}; send one JSON object in UTF-8.`;
  const mustBeObject = (at: number) => `The body must be a JSON object; at byte ${at} send "{" and the request's fields.`;
  const bodies: Record<string, { body: string | number[]; message: string }> = {
    nothing: { body: "", message: "The body ends at byte 0 without content; send one JSON object." },
    "only white space": { body: " \n ", message: "The body ends at byte 3 without content; send one JSON object." },
    "an array": { body: "[]", message: mustBeObject(0) },
    "a string": { body: ' "model"', message: mustBeObject(1) },
    "a literal": { body: "true", message: mustBeObject(0) },
    "a number": { body: "-1", message: mustBeObject(0) },
    "form data": { body: "model=m", message: notJson(0) },
    "a UTF-8 byte order mark": {
      body: [0xef, 0xbb, 0xbf, 0x7b, 0x7d],
      message: "The body begins with a byte order mark at byte 0; send it in UTF-8 without one.",
    },
    "a UTF-16 byte order mark": {
      body: [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00],
      message: "The body begins with a byte order mark at byte 0; send it in UTF-8 without one.",
    },
    "UTF-16LE without a mark": {
      body: [0x7b, 0x00, 0x7d, 0x00],
      message: "The body has a zero byte at byte 1, as UTF-16 and UTF-32 do; send it in UTF-8.",
    },
    "UTF-16BE without a mark": {
      body: [0x00, 0x7b, 0x00, 0x7d],
      message: "The body has a zero byte at byte 0, as UTF-16 and UTF-32 do; send it in UTF-8.",
    },
    "UTF-32LE after a space": {
      body: [0x20, 0x00, 0x00, 0x00, 0x7b],
      message: "The body has a zero byte at byte 1, as UTF-16 and UTF-32 do; send it in UTF-8.",
    },
    "a truncated key": { body: '{"mod', message: "The body ends at byte 5, inside its JSON object; send the whole object." },
    "a truncated string": {
      body: '{"model":"m',
      message: "The body ends at byte 11, inside its JSON object; send the whole object.",
    },
    "a truncated escape": {
      body: '{"model":"\\u00',
      message: "The body ends at byte 14, inside its JSON object; send the whole object.",
    },
    "a truncated number": { body: '{"a":1', message: "The body ends at byte 6, inside its JSON object; send the whole object." },
    "a truncated literal": {
      body: '{"a":tru',
      message: "The body ends at byte 8, inside its JSON object; send the whole object.",
    },
    "a missing brace": { body: '{"a":[1]', message: "The body ends at byte 8, inside its JSON object; send the whole object." },
    "a second object": {
      body: '{} {"model":"m"}',
      message: "The body continues at byte 3, after its JSON object; send one object and nothing else.",
    },
    "a trailing zero byte": { body: "{}\u0000", message: notTrailing(2) },
    "a trailing brace": { body: "{}}", message: notTrailing(2) },
    "model twice": { body: '{"model":"a","model":"b"}', message: twice("model", 13) },
    "model twice, once escaped": { body: '{"model":"a","\\u006dodel":"a"}', message: twice("model", 13) },
    "stream twice": { body: '{"stream":true,"model":"m","stream":{"a":[]}}', message: twice("stream", 27) },
    "a trailing comma": { body: '{"a":1,}', message: notJson(7) },
    "a trailing comma in an array": { body: '{"a":[1,]}', message: notJson(8) },
    "a trailing comma after many integers": { body: '{"a":[1,2,3, 4,]}', message: notJson(15) },
    "a leading zero in an array": { body: '{"a":[1,02]}', message: notJson(9) },
    "a leading zero among integers": { body: '{"a":[1,2,03,4]}', message: notJson(11) },
    "a leading comma": { body: "{,}", message: notJson(1) },
    "no colon": { body: '{"a" 1}', message: notJson(5) },
    "no value": { body: '{"a":}', message: notJson(5) },
    "no comma": { body: '{"a":1 "b":2}', message: notJson(7) },
    "two colons": { body: '{"a"::1}', message: notJson(5) },
    "a bracket for a brace": { body: '{"a":1]', message: notJson(6) },
    "a brace for a bracket": { body: '{"a":[1}', message: notJson(7) },
    "an unquoted key": { body: "{a:1}", message: notJson(1) },
    "single quotes": { body: "{'a':1}", message: notJson(1) },
    "a comment": { body: '{"a":1/* */}', message: notJson(6) },
    "a capital literal": { body: '{"a":True}', message: notJson(5) },
    "a misspelt literal": { body: '{"a":nul1}', message: notJson(8) },
    "a literal that goes on": { body: '{"a":nulls}', message: notJson(9) },
    NaN: { body: '{"a":NaN}', message: notJson(5) },
    "a leading zero": { body: '{"a":01}', message: notJson(6) },
    "a lone minus": { body: '{"a":-}', message: notJson(6) },
    "a leading plus": { body: '{"a":+1}', message: notJson(5) },
    "a bare point": { body: '{"a":1.}', message: notJson(7) },
    "a bare exponent": { body: '{"a":1e}', message: notJson(7) },
    "a bare exponent sign": { body: '{"a":1e+}', message: notJson(8) },
    "two points": { body: '{"a":1.2.3}', message: notJson(8) },
    "an unknown escape": { body: '{"a":"\\x41"}', message: notJson(7) },
    "a short hex escape": { body: '{"a":"\\u12G4"}', message: notJson(10) },
    "a raw newline in a short string": { body: '{"a":"\n"}', message: notJson(6) },
    "a raw tab in a long string": { body: `{"a":"${"x".repeat(50)}\t"}`, message: notJson(56) },
    "a raw zero in a string": { body: '{"a":"\u0000"}', message: notJson(6) },
    "a raw control character in a key": { body: '{"a\u001f":1}', message: notJson(3) },
    "a form feed between tokens": { body: '{\f"a":1}', message: notJson(1) },
    "a no-break space between tokens": { body: '{\u00a0"a":1}', message: notJson(1) },
  };
  for (const [name, { body, message }] of Object.entries(bodies)) {
    test(name, () => {
      const bytes = typeof body === "string" ? utf8(body) : Uint8Array.from(body);
      const whole = verdict(bytes);
      assert.equal(whole.message, message);
      assert.equal(whole.code, message.includes("second time") ? "invalid_value" : "invalid_json");
      for (const cut of cutsOf(bytes, 100)) assert.deepEqual(verdict(bytes, [cut]), whole, `cut at ${cut}`);
      assert.deepEqual(verdict(bytes, cutsOf(bytes, 100)), whole, "byte by byte");
    });
  }
});

function notTrailing(at: number): string {
  return `The body continues at byte ${at}, after its JSON object; send one object and nothing else.`;
}

function twice(key: string, at: number): string {
  return `The body has the key "${key}" a second time at byte ${at}; send it once.`;
}

describe("nesting", () => {
  // The scanner keeps its container stack in words of 16 levels.
  for (const levels of [1, 2, 15, 16, 17, 31, 32, 33, 48, 49, 64]) {
    test(`${levels} levels, arrays and objects mixed`, () => {
      for (let pattern = 0; pattern < 24; pattern++) {
        const isArray = (level: number) => level > 0 && ((pattern * 7919 + level * level) >> (level % 5)) % 2 === 0;
        const opened = Array.from({ length: levels }, (_, level) => (isArray(level) ? "[" : '{"k":'));
        const closed = opened.map((_, level) => (isArray(level) ? "]" : "}")).reverse();
        const text = `${opened.join("")}1${closed.join("")}`;
        assert.equal(verdict(utf8(text)).code, "ok", text);
        const wrong = text.length - 1 - (pattern % levels);
        const swapped = text.slice(0, wrong) + (text[wrong] === "]" ? "}" : "]") + text.slice(wrong + 1);
        assert.equal(verdict(utf8(swapped)).code, "invalid_json", swapped);
      }
    });
  }

  test("one level too many is refused where it opens", () => {
    const text = `{"a":${"[".repeat(63)}${"]".repeat(63)}}`;
    assert.equal(verdict(utf8(text)).code, "ok");
    const deeper = verdict(utf8(`{"a":${"[".repeat(64)}${"]".repeat(64)}}`));
    assert.equal(deeper.message, "The body nests deeper than 64 levels at byte 68; send fewer levels.");
    assert.equal(deeper.code, "invalid_json");
  });

  test("a million opening brackets are refused at the limit", () => {
    assert.match(verdict(utf8(`{"a":${"[".repeat(1_000_000)}`)).message, /deeper than 64 levels at byte 68;/);
  });
});

// WebAssembly scans strings from 16 bytes on, so a special byte is tried at every place of a longer string and every alignment.
describe("long strings", () => {
  const bytesOfInterest = [0x00, 0x01, 0x1f, 0x20, 0x21, 0x22, 0x23, 0x5b, 0x5c, 0x5d, 0x7f, 0x80, 0xa2, 0xdc, 0xff];
  for (const byte of bytesOfInterest) {
    test(`byte 0x${byte.toString(16)} at every place`, () => {
      for (let place = 0; place < 40; place++) {
        for (const neighbour of [0x61, 0x20, 0xff]) {
          const body = utf8(`{"model":"${"a".repeat(40)}"}`);
          body.fill(neighbour, 10, 50);
          body[10 + place] = byte;
          const wanted = parsed(body) === undefined ? "invalid_json" : "ok";
          for (let alignment = 0; alignment < 4; alignment++) {
            const cuts = Array.from({ length: alignment }, (_, n) => n + 1);
            assert.equal(verdict(body, cuts).code, wanted, `place ${place}, neighbour ${neighbour}, alignment ${alignment}`);
          }
        }
      }
    });
  }
});

test("reading a key that is not noted throws", () => {
  const scanner = new BodyScanner(["model"], 8);
  assert.throws(() => scanner.spanOf("stream"), { name: "Error", message: /name it in the parser's keys/ });
});

test("keys outside ASCII are noted too, with and without escapes", () => {
  for (const spelling of ["größe", "gr\\u00f6ße", "\\u0067r\\u00F6\\u00dfe"]) {
    const scanner = new BodyScanner(["größe"], 8);
    const body = utf8(`{"${spelling}":1}`);
    scanner.finish(body, body.length);
    assert.deepEqual(scanner.spanOf("größe"), [body.length - 2, body.length - 1]);
  }
});
