import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import fc from "fast-check";
import type { Head } from "../../../core/wire/head.ts";
import type { HeadKind } from "../../../core/wire/head-parser.ts";
import { HeadParser } from "../../../core/wire/head-parser.ts";

/** Small, so that some heads are too large. */
const LIMITS = { headBytes: 200, headerCount: 5 };

const START_LINES = {
  request: [
    "POST /v1/a HTTP/1.1",
    "POST /v1/a HTTP/1.0",
    "POST /v1/ab HTTP/1.1",
    "GET / HTTP/1.1",
    "\r\nGET / HTTP/1.1",
    "GET /",
  ],
  response: ["HTTP/1.1 200 OK", "HTTP/1.1 200 ", "HTTP/1.1 503 OK", "HTTP/1.0 200 OK", "HTTP/2.0 200 OK"],
} as const;
const LINES = [
  ...["Host: a", "Host: a\r", "X-Long: 0123456789012345678901234567890123456789", "Hos: a", "host: a", "Content-Length: 5"],
  ...["Content-Length: 17", "Content-length: 17", "Date: 12:00:01", "Date: 12:00:02", "X: ", "X : 1", " folded", "X: \0"],
];
type Made = readonly [start: string, lines: readonly string[]];
/** Heads that have much in common: whole lines, or all but the end of one. */
const headsOf = (kind: HeadKind): fc.Arbitrary<Made[]> =>
  fc.array(fc.tuple(fc.constantFrom(...START_LINES[kind]), fc.subarray(LINES, { maxLength: 6 })), { minLength: 2, maxLength: 6 });

const essence = (head: Head) => {
  const lines = Array.from({ length: head.count }, (_, i) => [head.name(i), head.value(i), head.id(i), head.lineEnd(i)]);
  const { text, method, target, status, minor, reason } = head;
  return { text, method, target, status, minor, reason, lines };
};

/** What the parser makes of a head that comes in two pieces, or in one if `cut` lies behind it. */
function read(parser: HeadParser, bytes: Buffer, cut: number) {
  const pieces = cut < bytes.length ? [bytes.subarray(0, cut), bytes.subarray(cut)] : [bytes];
  try {
    const ends: number[] = [];
    for (const piece of pieces) if ((ends.at(-1) ?? -1) < 0) ends.push(parser.push(piece, 0));
    return { ends, head: essence(parser.head) };
  } catch (thrown) {
    return { error: (thrown as Error).message };
  }
}

/** Each head comes twice, unless it is refused, which ends the connection. */
function assertSame(kind: HeadKind, made: readonly Made[], cuts: readonly number[]): void {
  const parser = new HeadParser(kind, LIMITS);
  for (const [index, [start, lines]] of made.entries()) {
    const bytes = Buffer.from([start, ...lines, "", "body"].join("\r\n"), "latin1");
    const cut = cuts[index] ?? Number.POSITIVE_INFINITY;
    const expected = read(new HeadParser(kind, LIMITS), bytes, cut);
    for (let times = 0; times < 2; times++) {
      assert.deepEqual(read(parser, bytes, cut), expected);
      if (expected.head === undefined) return;
      parser.reset();
    }
  }
}

for (const kind of ["request", "response"] as const)
  test(`a ${kind} head is read the same, whichever heads came before it on the connection`, () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 6 });
    fc.assert(
      fc.property(headsOf(kind), cuts, (made, places) => assertSame(kind, made, places)),
      { numRuns: 2000 },
    );
  });

test("what is left of a head with more lines is not taken for lines of the next", () => {
  const [start, long] = ["GET / HTTP/1.1", "X-Long: 0123456789012345678901234567890123456789"];
  const made: Made[] = [
    [start, ["Host: a", "X: "]],
    [start, [long]],
    [start, [long, "X: "]],
  ];
  assertSame("request", made, []);
});
