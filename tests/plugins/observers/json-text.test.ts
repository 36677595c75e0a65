import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { isoTimes, jsonBoolean, jsonNumber, jsonTenths, jsonText } from "../../../plugins/observers/json-text.ts";

const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

describe("text", () => {
  const texts = fc.oneof(fc.string({ unit: "binary", maxLength: 300 }), fc.string({ maxLength: 300 }));

  it("is what JSON.stringify makes of its first 256 characters, with ? for those that can't be printed", () => {
    const units = fc.array(fc.integer({ min: 0, max: 0xffff })).map((codes) => String.fromCharCode(...codes));
    fc.assert(
      fc.property(fc.oneof(texts, units), (text) => {
        assert.equal(`"${jsonText(text)}"`, JSON.stringify(text.slice(0, 256).replace(UNPRINTABLE, "?")));
      }),
    );
  });

  it("holds no control character, quote or backslash of its own", () => {
    for (let code = 0; code < 0x10000; code++) {
      const char = String.fromCharCode(code);
      assert.equal(`"${jsonText(char)}"`, JSON.stringify(char.replace(UNPRINTABLE, "?")));
    }
  });

  it("is cut at 256 characters, also when all are plain", () => assert.equal(jsonText("x".repeat(257)), "x".repeat(256)));
});

describe("numbers", () => {
  const numbers = fc.oneof(
    fc.double(),
    fc.double({ min: -1000, max: 1e7 }),
    fc.integer(),
    fc.constantFrom(-0, -0.04, 0.05, 2 ** 31),
  );

  it("are what JSON.stringify makes of them", () => {
    fc.assert(fc.property(numbers, (value) => assert.equal(jsonNumber(value), JSON.stringify(value))));
    assert.equal(jsonNumber(undefined), "null");
  });

  it("have one decimal at most where that is asked for", () => {
    fc.assert(fc.property(numbers, (value) => assert.equal(jsonTenths(value), JSON.stringify(Math.round(value * 10) / 10))));
  });
});

it("a boolean that is unknown is null", () =>
  assert.deepEqual([true, false, undefined].map(jsonBoolean), ["true", "false", "null"]));

it("a time is in ISO 8601, also when it goes back", () => {
  const isoTime = isoTimes();
  const noon = Date.UTC(2025, 0, 2, 12);
  for (const time of [noon, noon, noon + 1, noon, noon + 0.5]) assert.equal(isoTime(time), new Date(time).toISOString());
  assert.throws(() => isoTime(Number.NaN));
});
