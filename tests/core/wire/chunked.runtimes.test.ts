import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { ChunkedDecoder } from "../../../core/wire/chunked.ts";
import { WireError } from "../../../core/wire/wire-error.ts";
import { cut, singles } from "../../support/wire-transcript.ts";

interface Decoded {
  readonly data: string;
  readonly isDone: boolean;
  /** Bytes read in all. */
  readonly length: number;
  readonly error: string;
}

function decode(pieces: readonly Buffer[], decoder = new ChunkedDecoder("response")): Decoded {
  let data = "";
  let length = 0;
  for (const piece of pieces) {
    if (decoder.isDone) break;
    try {
      decoder.push(piece, 0);
    } catch (thrown) {
      if (!(thrown instanceof WireError)) throw thrown;
      return { data, isDone: false, length, error: thrown.code };
    }
    const part = dataOf(decoder, piece);
    assert.equal(part.length, decoder.dataBytes);
    data += part;
    length += decoder.end;
  }
  return { data, isDone: decoder.isDone, length, error: "" };
}

function dataOf(decoder: ChunkedDecoder, piece: Buffer): string {
  return Array.from({ length: decoder.spanCount }, (_, i) =>
    piece.toString("latin1", decoder.spans[2 * i], decoder.spans[2 * i + 1]),
  ).join("");
}

const latin1 = (text: string) => Buffer.from(text, "latin1");

// [what, bytes, data]
const good: readonly (readonly [string, string, string])[] = [
  ["no data", "0\r\n\r\n", ""],
  ["one chunk", "5\r\nhello\r\n0\r\n\r\n", "hello"],
  ["two chunks", "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", "hello world"],
  ["both cases of hexadecimal", "a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789"],
  ["leading zeros", "0000000000000005\r\nhello\r\n0000000000000000\r\n\r\n", "hello"],
  ["line ends as data", "4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n"],
  ["a last chunk as data", "5\r\n0\r\n\r\n\r\n0\r\n\r\n", "0\r\n\r\n"],
  ["an extension", "1;a\r\nx\r\n0\r\n\r\n", "x"],
  ["extensions with values", '1;a=b;c="d; \\"\\\\ \t\xff";e\r\nx\r\n0;f="";g\r\n\r\n', "x"],
  ["a trailer", "1\r\nx\r\n0\r\nA: b\r\n\r\n", "x"],
  ["trailers", "0\r\nA:\r\nContent-Length: 5\r\nB: \t\xff \r\n\r\n", ""],
];

test("bodies that are read", async (t) => {
  for (const [what, text, data] of good) {
    await t.test(what, () => {
      const bytes = latin1(text);
      const expected = { data, isDone: true, length: bytes.length, error: "" };
      assert.deepEqual(decode([bytes]), expected);
      assert.deepEqual(decode(singles(bytes)), expected);
      for (let at = 1; at < bytes.length; at++) assert.deepEqual(decode(cut(bytes, [at])), expected);
      assert.deepEqual(decode([Buffer.concat([bytes, latin1("GET /")])]), expected, "what follows is left alone");
      assert.deepEqual(decode([bytes.subarray(0, -1)]), { ...expected, isDone: false, length: bytes.length - 1 });
    });
  }
});

// The last byte is the one that must be refused.
const bad: readonly (readonly [string, string])[] = [
  ["no size", "\r"],
  ["LF instead of a size", "\n"],
  ["a space before the size", " "],
  ["a minus before the size", "-"],
  ["a plus before the size", "+"],
  ["0x before the size", "0x"],
  ["an underscore in the size", "1_"],
  ["a size that is no number", "g"],
  ["a space after the size", "5 "],
  ["a tab after the size", "5\t"],
  ["a space before the extension", "5 "],
  ["17 digits", "00000000000000005"],
  ["a size of 2^53", "20000000000000"],
  ["a size beyond 64 bits", "ffffffffffffff"],
  ["LF alone after the size", "5\n"],
  ["CR alone after the size", "5\rh"],
  ["CR CR LF after the size", "5\r\r"],
  ["data longer than the size", "5\r\nhello!"],
  ["LF alone after the data", "5\r\nhello\n"],
  ["CR alone after the data", "5\r\nhello\r0"],
  ["an empty line between chunks", "5\r\nhello\r\n\r"],
  ["an empty extension", "5;\r"],
  ["two semicolons", "5;;"],
  ["a space before an extension", "5; "],
  ["a space after an extension", "5;a "],
  ["a space before the equals sign", "5;a "],
  ["an extension without name", "5;="],
  ["an extension with an empty value", "5;a=\r"],
  ["a space before an extension's value", "5;a= "],
  ["a second equals sign", "5;a=b="],
  ["NUL in an extension", "5;a\0"],
  ["LF alone after an extension", "5;a\n"],
  ["LF alone after an extension's value", "5;a=b\n"],
  ["LF in a quoted value", '5;a="b\n'],
  ["CR in a quoted value", '5;a="b\r'],
  ["DEL in a quoted value", '5;a="\x7f'],
  ["CR escaped in a quoted value", '5;a="\\\r'],
  ["text after a quoted value", '5;a="b"c'],
  ["LF alone after the last size", "0\n"],
  ["LF alone instead of trailers", "0\r\n\n"],
  ["CR alone at the end", "0\r\n\ra"],
  ["a folded trailer", "0\r\nA: b\r\n "],
  ["a space before a trailer", "0\r\n "],
  ["a trailer without name", "0\r\n:"],
  ["a space before a trailer's colon", "0\r\nA "],
  ["a trailer without colon", "0\r\nA\r"],
  ["NUL in a trailer", "0\r\nA: \0"],
  ["LF alone after a trailer", "0\r\nA: b\n"],
  ["CR alone after a trailer", "0\r\nA: b\rC"],
];

test("bodies that are refused, at the first byte that is wrong", async (t) => {
  for (const [what, text] of bad) {
    await t.test(what, () => {
      const bytes = latin1(text);
      assert.equal(decode([bytes]).error, "bad_framing", "whole");
      const byByte = decode(singles(bytes));
      assert.deepEqual([byByte.error, byByte.length], ["bad_framing", bytes.length - 1], "byte by byte");
    });
  }
});

test("the longest chunk is 2^53 - 1 bytes", () => {
  const decoder = new ChunkedDecoder("response");
  decoder.push(latin1("001FfFfFfFfFfFfF\r\nab"), 0);
  assert.equal(decoder.dataBytes, 2);
});

test("extensions and trailers are bounded over the whole body", () => {
  const room = 16 * 1024;
  const decoder = new ChunkedDecoder("response");
  // What follows the semicolon counts, the CR with it.
  decoder.push(latin1(`1;${"a".repeat(room / 2 - 1)}\r\nx\r\n`), 0);
  decoder.push(latin1(`1;${"a".repeat(room / 2 - 1)}\r\nx\r\n1;`), 0);
  assert.throws(() => decoder.push(latin1("a"), 0), { code: "bad_framing" });

  for (const trailer of [`A:${"b".repeat(room - 4)}\r\n`, "A:\r\n".repeat(room / 4)]) {
    const full = new ChunkedDecoder("response");
    full.push(latin1(`0\r\n${trailer}`), 0);
    assert.throws(() => full.push(latin1("A"), 0), { code: "bad_framing" });
    full.reset();
    full.push(latin1(`0\r\n${trailer}\r\n`), 0);
    assert.equal(full.isDone, true);
  }
});

test("a request's data is one span in each read, whatever its chunks are", async (t) => {
  for (const [what, text, data] of good) {
    await t.test(what, () => {
      for (let at = 0; at < text.length; at++) {
        const decoder = new ChunkedDecoder("request");
        const pieces = cut(latin1(text), [at]).map((piece) => {
          decoder.push(piece, 0);
          assert.ok(decoder.spanCount <= 1);
          return dataOf(decoder, piece);
        });
        assert.deepEqual([pieces.join(""), decoder.isDone], [data, true]);
      }
    });
  }
});

test("a request may have many chunks of a few bytes, but not any number; a response may", () => {
  const most = 256 * 1024;
  const one = latin1("1\r\nx\r\n");
  const usual = latin1(`10\r\n${"x".repeat(16)}\r\n`);
  for (const kind of ["request", "response"] as const) {
    const decoder = new ChunkedDecoder(kind);
    for (let i = 0; i < most; i++) decoder.push(Buffer.from(one), 0);
    for (let i = 0; i < most; i++) decoder.push(Buffer.from(usual), 0);
    const more = () => decoder.push(Buffer.from(one), 0);
    if (kind === "response") assert.doesNotThrow(more);
    else assert.throws(more, { code: "bad_framing", message: /chunks have less than 16 bytes; send larger ones/ });
    decoder.reset();
    assert.doesNotThrow(more, "of each body");
  }
});

// [what, what came before, this push, whether it may go out as it is]
const verbatim: readonly (readonly [string, string, string, boolean])[] = [
  ["nothing", "", "", true],
  ["a chunk", "", "1\r\nx\r\n", true],
  ["chunks", "", "1\r\nx\r\n1\r\ny\r\n", true],
  ["a chunk after a chunk", "1\r\nx\r\n", "1\r\ny\r\n", true],
  ["a chunk and the end", "", "1\r\nx\r\n0\r\n\r\n", true],
  ["the end", "1\r\nx\r\n", "0\r\n\r\n", true],
  ["the end and what follows", "", "0\r\n\r\nHTTP/1.1", true],
  ["half a size", "", "1", false],
  ["a size", "", "1\r\n", false],
  ["half the data", "", "2\r\nx", false],
  ["all data without its line end", "", "1\r\nx", false],
  ["half the line end", "", "1\r\nx\r", false],
  ["the rest of a chunk", "2\r\nx", "y\r\n", false],
  ["the rest of a line end", "1\r\nx\r", "\n", false],
  ["the rest of a line end and a chunk", "1\r\nx\r", "\n1\r\ny\r\n", false],
  ["a chunk and half of another", "", "1\r\nx\r\n1\r\n", false],
  ["half an end", "", "0\r\n", false],
  ["the rest of the end", "0\r\n", "\r\n", false],
  ["an extension", "", "1;a\r\nx\r\n", false],
  ["an extension at the end", "", "0;a\r\n\r\n", false],
  ["a trailer", "", "0\r\nA: b\r\n\r\n", false],
  ["a chunk after an extension", "1;a\r\nx\r\n", "1\r\ny\r\n", true],
];

test("what may go out as it came", async (t) => {
  for (const [what, before, text, isVerbatim] of verbatim) {
    await t.test(what, () => {
      const decoder = new ChunkedDecoder("response");
      decoder.push(latin1(before), 0);
      decoder.push(latin1(text), 0);
      assert.equal(decoder.isVerbatim, isVerbatim);
    });
  }
});

test("thousands of chunks in one read, from an offset, and the array afterwards", () => {
  const decoder = new ChunkedDecoder("response");
  const data = Array.from({ length: 5000 }, (_, i) => (i % 7 === 0 ? `<${i} ${"-".repeat(40)}>` : String(i % 10)));
  const bytes = latin1(`GET /${data.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`).join("")}0\r\n\r\nrest`);
  decoder.push(bytes, 5);
  assert.deepEqual([decoder.spanCount, decoder.dataBytes, decoder.isDone], [1024, data.join("").length, true]);
  assert.equal(bytes.toString("latin1", decoder.end), "rest");
  assert.equal(dataOf(decoder, bytes), data.join(""));
  assert.equal(decoder.isVerbatim, false);

  decoder.reset();
  assert.deepEqual([decoder.spanCount, decoder.isDone, decoder.isVerbatim], [0, false, true]);
  const { spans } = decoder;
  assert.ok(spans.length < 1000, "a large array is not kept");
  assert.deepEqual(decode([latin1("2\r\nab\r\n0\r\n\r\n")], decoder), { data: "ab", isDone: true, length: 12, error: "" });
  decoder.reset();
  assert.equal(decoder.spans, spans, "no new array for usual reads");
});
