import assert from "node:assert/strict";
import { ChunkedDecoder } from "../../../core/wire/chunked.ts";
import { WireError } from "../../../core/wire/wire-error.ts";
import { cut, singles } from "../../support/wire-transcript.ts";
import type { Target } from "../fuzz.ts";

const latin1 = (text: string) => Buffer.from(text, "latin1");

/** Chunked bodies: one verdict for the whole and its splits, the same data as by patterns, and verbatim means verbatim. */
export const chunk: Target = {
  name: "chunk",
  seeds: [
    latin1("5\r\nhello\r\n0\r\n\r\n"),
    latin1('a;b;c=d;e="f\\"g"\r\n0123456789\r\n000\r\nA: b\r\nC:\t d \r\n\r\nGET'),
    latin1("1\r\na\r\n1\r\nb\r\nF\r\n0123456789abcde\r\n0;x\r\n\r\n"),
  ],
  words: [
    ...'\r\n|\n|\r|0\r\n\r\n|0|1\r\na\r\n|f|F|;|;a|;a=b|;a="b"|=|"|\\|\\"|\0|\x80|\x7f| |\t|:|A: b\r\n|fffffffffffffff|0000000000000000|x'.split(
      "|",
    ),
    "1;a\r\nb\r\n".repeat(50),
    "a".repeat(500),
  ],
  check(input, dice) {
    const whole = decode([input]);
    const { atError: _, spans: __, ...essence } = whole;
    for (const pieces of [singles(input), cut(input, dice.places(input.length, 6))]) {
      const { atError, spans, ...split } = decode(pieces);
      assert.ok(spans >= whole.spans || whole.error !== "", "fewer spans in pieces");
      // Data that came in the same read as an error is not handed on.
      if (whole.error === "") assert.deepEqual(split, essence, "in pieces");
      else assert.deepEqual([split.error, split.isDone], [whole.error, false], "in pieces");
      assert.ok(atError.startsWith(whole.atError) || whole.atError.startsWith(atError), "data before an error");
    }
    const { spans: joined, atError: ___, ...request } = decode([input], "request");
    assert.ok(joined <= 1, "one span");
    assert.deepEqual(request, essence, "as a request");
    const expected = byPatterns(input.toString("latin1"));
    if (whole.isDone || expected !== undefined)
      assert.deepEqual(whole.isDone ? [whole.data, whole.end] : undefined, expected, "by patterns");
    return `${whole.error} ${whole.isDone} ${Math.min(whole.spans, 4)} ${whole.end === input.length} ${input.includes(";")}`;
  },
};

/** Of copies: a decoder moves data together. */
function decode(given: readonly Buffer[], kind: "request" | "response" = "response") {
  const pieces = given.map((piece) => Buffer.from(piece));
  const decoder = new ChunkedDecoder(kind);
  let data = "";
  let verbatim = "";
  let spans = 0;
  let end = 0;
  try {
    for (const piece of pieces) {
      decoder.push(piece, 0);
      const found = Array.from({ length: decoder.spanCount }, (_, i) =>
        piece.toString("latin1", decoder.spans[2 * i], decoder.spans[2 * i + 1]),
      );
      assert.equal(found.join("").length, decoder.dataBytes);
      data += found.join("");
      spans += found.length;
      end += decoder.end;
      // Read alone, what was called verbatim must say the same.
      if (decoder.isVerbatim) verbatim += piece.toString("latin1", 0, decoder.end);
      else
        verbatim +=
          found.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join("") + (decoder.isDone ? "0\r\n\r\n" : "");
      if (decoder.isDone) break;
    }
  } catch (thrown) {
    if (!(thrown instanceof WireError)) throw thrown;
    return { error: thrown.message, isDone: false, data: "", atError: data, end: 0, spans };
  }
  if (decoder.isDone) assert.deepEqual(byPatterns(verbatim), [data, verbatim.length], "forwarded chunks");
  return { error: "", isDone: decoder.isDone, data, atError: data, end, spans };
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]";
const SIZE = new RegExp(
  `([0-9a-f]{1,16})((?:;${TOKEN}+(?:=(?:${TOKEN}+|"(?:[\\t \\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t\\x20-\\x7e\\x80-\\xff])*"))?)*)\\r\\n`,
  "iy",
);
const TRAILER = new RegExp(`${TOKEN}+:[\\t\\x20-\\x7e\\x80-\\xff]*\\r\\n`, "y");
/** Room for extensions, and for trailers. */
const ROOM = 16 * 1024;

/** Data and end of a whole body by regular expressions; undefined where it is not whole or not right. */
function byPatterns(text: string): [data: string, end: number] | undefined {
  let data = "";
  let extensions = 0;
  for (let at = 0; ; ) {
    SIZE.lastIndex = at;
    const size = SIZE.exec(text);
    if (size === null) return undefined;
    // What follows the first semicolon counts, the CR with it.
    extensions += size[2]!.length;
    const length = Number.parseInt(size[1]!, 16);
    if (extensions > ROOM || length > Number.MAX_SAFE_INTEGER) return undefined;
    at = SIZE.lastIndex + length + 2;
    if (length === 0) return trailersEnd(text, SIZE.lastIndex, data);
    data += text.slice(SIZE.lastIndex, SIZE.lastIndex + length);
    if (text.slice(at - 2, at) !== "\r\n") return undefined;
  }
}

function trailersEnd(text: string, start: number, data: string): [data: string, end: number] | undefined {
  let at = start;
  for (TRAILER.lastIndex = at; TRAILER.exec(text) !== null; TRAILER.lastIndex = at) at = TRAILER.lastIndex;
  return at - start <= ROOM && text.startsWith("\r\n", at) ? [data, at + 2] : undefined;
}
