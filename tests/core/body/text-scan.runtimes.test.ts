import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { contentEnd, forgetWindow } from "../../../core/body/text-scan.ts";
import { utf8 } from "./verdict.ts";

const WINDOW_BYTES = 32 * 1024;
const VALID_ESCAPE = /^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/;

/** The expected result, found with a regular expression. */
function plainEnd(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end) {
    const byte = bytes[at]!;
    if (byte < 0x20 || byte === 0x22) return at;
    if (byte !== 0x5c) {
      at++;
      continue;
    }
    const right = VALID_ESCAPE.exec(String.fromCharCode(...bytes.subarray(at, Math.min(end, at + 6))));
    if (right === null) return at;
    at += right[0].length;
  }
  return end;
}

function scannedEnd(bytes: Uint8Array, from = 0, end = bytes.length): number {
  forgetWindow();
  return contentEnd(bytes, from, end);
}

/** Fills the window with bytes that would end a string; the next scan must not see them. */
function poison(byte: number): void {
  scannedEnd(new Uint8Array(WINDOW_BYTES).fill(byte));
}

/** Correct and wrong pieces of strings, with runs between them that end anywhere in a block of 64 bytes. */
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.nat({ max: 140 }).map((length) => "x".repeat(length)) },
  { weight: 4, arbitrary: fc.constantFrom("\\n", '\\"', "\\\\", "\\/", "\\u0041", "\\uD83d", "é", "信", "😀", "\x7f") },
  { weight: 1, arbitrary: fc.constantFrom('"', "\\", "\\u12", "\\x", "\\U0041", "\\u00g1", "\n", "\0", "\x1f") },
);
const content = fc.array(piece, { maxLength: 20 }).map((pieces) => utf8(pieces.join("")));

describe("the end of a string's content", () => {
  test("is right for every byte, at every place of a block", () => {
    for (let byte = 0; byte < 256; byte++) {
      for (let place = 0; place < 70; place += byte === 0x22 || byte === 0x5c ? 1 : 7) {
        const bytes = new Uint8Array(140).fill(0x78);
        bytes[place] = byte;
        assert.equal(scannedEnd(bytes), plainEnd(bytes, 0, bytes.length), `byte ${byte} at ${place}`);
      }
    }
  });

  test("is right for every letter after a backslash, and every byte as a digit", () => {
    for (let byte = 0; byte < 256; byte++) {
      for (let place = 1; place < 6; place++) {
        const bytes = utf8("\\u0aF9xxxxxxxx");
        bytes[place] = byte;
        assert.equal(scannedEnd(bytes), plainEnd(bytes, 0, bytes.length), `byte ${byte} at ${place}`);
      }
    }
  });

  test("equals a regular expression's result for any start, end and earlier scan", () => {
    fc.assert(
      fc.property(content, fc.nat(), fc.nat(), fc.constantFrom(0x22, 0x5c, 0, 0x75, 0x30), (bytes, a, b, stale) => {
        const from = a % (bytes.length + 1);
        const end = from + (b % (bytes.length - from + 1));
        poison(stale);
        assert.equal(scannedEnd(bytes, from, end), plainEnd(bytes, from, end));
        assert.equal(scannedEnd(bytes), plainEnd(bytes, 0, bytes.length));
      }),
      { numRuns: 1000 },
    );
  });

  test("does not depend on where the window ends", () => {
    for (const last of ['"', "\n", "\\n", "\\u0041", "\\u00", "\\", "\\\\\\\\", "\\u004"]) {
      for (let shift = -12; shift <= 12; shift++) {
        for (const windows of [1, 2]) {
          const bytes = utf8(`${"x".repeat(windows * WINDOW_BYTES + shift)}${last}${"\\t".repeat(4)}yy"`);
          const cut = bytes.length - 11; // the piece under test is the end of the text
          assert.equal(scannedEnd(bytes), plainEnd(bytes, 0, bytes.length), `${last} at ${shift}`);
          assert.equal(scannedEnd(bytes, 0, cut), plainEnd(bytes, 0, cut), `${last} at ${shift}, cut off`);
        }
      }
    }
  });

  test("is found for several strings in turn, in one window and after it", () => {
    const bytes = utf8(`${"x".repeat(500)}"`.repeat(200));
    forgetWindow();
    for (let from = 0; from < bytes.length; from += 501) assert.equal(contentEnd(bytes, from, bytes.length), from + 500);
  });

  test("is searched only in the given part of a buffer", () => {
    const bytes = utf8(`"""${"x".repeat(100)}"`).subarray(3);
    assert.equal(scannedEnd(bytes), 100);
  });
});
