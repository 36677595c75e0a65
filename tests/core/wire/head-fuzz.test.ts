import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import fc from "fast-check";
import type { HeadKind } from "../../../core/wire/head-parser.ts";
import { cut, singles, type Transcript, transcribe } from "../../support/wire-transcript.ts";

const latin1 = (text: string) => Buffer.from(text, "latin1");

const token = fc.stringMatching(/^[a-zA-Z0-9!#$%&'*+.^_`|~-]{1,16}$/);
const target = fc.stringMatching(/^\/[a-zA-Z0-9\-._~:/?[\]@!$&'()*+,;=%]{0,30}$/);
const value = fc.stringMatching(/^([\x21-\x7e\x80-\xff]([\t\x20-\x7e\x80-\xff]{0,20}[\x21-\x7e\x80-\xff])?)?$/);
const reason = fc.stringMatching(/^[\t\x20-\x7e\x80-\xff]{0,12}$/);
const blank = fc.stringMatching(/^[ \t]{0,3}$/);
const minor = fc.constantFrom(0, 1);
/** Framing headers have their own tables; here they would only make the head's body ambiguous. */
const name = token.filter((text) => !/^(content-length|transfer-encoding|connection)$/i.test(text));
const headers = fc.array(fc.tuple(name, blank, value, blank), { maxLength: 8 });
const offsets = fc.array(fc.nat({ max: 600 }), { maxLength: 12 });

const body = fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes).toString("latin1"));

interface Made {
  readonly start: string;
  readonly line: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly text: string;
  readonly body: string;
}

function make(start: string, line: string, list: readonly [string, string, string, string][], content: string): Made {
  const given = list.map(([field, before, text, after]) => `${field}:${before}${text}${after}\r\n`);
  return {
    start,
    line,
    headers: [...list.map(([field, , text]) => [field, text] as const), ["Content-Length", String(content.length)]],
    text: `${line}\r\n${given.join("")}Content-Length: ${content.length}\r\n\r\n${content}`,
    body: content,
  };
}

// A request of HTTP/1.0 ends the connection, so it can only be the last one.
const request = (version: fc.Arbitrary<number>) =>
  fc
    .tuple(token, target, version, headers, body)
    .map(([method, path, digit, list, content]) =>
      make(`${method} ${path} 1.${digit}`, `${method} ${path} HTTP/1.${digit}`, list, content),
    );
const response = fc
  .tuple(fc.integer({ min: 200, max: 599 }), reason, minor, headers, body)
  .filter(([status]) => status !== 204 && status !== 304)
  .map(([status, words, digit, list, content]) =>
    make(`1.${digit} ${status} ${words}`, `HTTP/1.${digit} ${status} ${words}`, list, content),
  );

function edgesIn(bytes: Buffer, places: readonly number[]): number[] {
  return places.filter((at) => at < bytes.length);
}

function assertRead(kind: HeadKind, made: readonly Made[], places: readonly number[]): void {
  const bytes = latin1(made.map(({ text }) => text).join(""));
  const expected = made.map((one) => ({ start: one.start, headers: one.headers, body: one.body, isComplete: true }));
  const got = transcribe(kind, cut(bytes, edgesIn(bytes, places)));
  assert.deepEqual([got.messages, got.error], [expected, ""]);
}

test("any requests on one connection are read as they were made, however they are split", () => {
  const connection = fc
    .tuple(fc.array(request(fc.constant(1)), { maxLength: 2 }), request(minor))
    .map(([first, last]) => [...first, last]);
  fc.assert(
    fc.property(connection, offsets, (made, places) => assertRead("request", made, places)),
    { numRuns: 200 },
  );
});

test("any response is read as it was made, however it is split", () => {
  fc.assert(
    fc.property(response, offsets, (made, places) => assertRead("response", [made], places)),
    { numRuns: 200 },
  );
});

// Messages to be mutated: together they have every part that can go wrong.
const seeds: readonly (readonly [HeadKind, string])[] = [
  [
    "request",
    "POST /v1/a?b=c HTTP/1.1\r\nHost: a:80\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhelloGET / HTTP/1.1\r\n\r\n",
  ],
  [
    "request",
    'PUT http://a/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nX-A:\t b \r\n\r\n5;a="b"\r\nhello\r\n0\r\nA: b\r\n\r\n\r\nGET / HTTP/1.0\r\n\r\n',
  ],
  ["response", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 304 \r\nA: b\r\n\r\n"],
  [
    "response",
    "HTTP/1.1 200 OK\r\nDate: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\na\r\n0123456789\r\n0\r\n\r\n",
  ],
];
const octet = fc.oneof(
  fc.constantFrom(...'\r\n\0 \t:;,="\\/0159HTcCf'),
  fc.nat({ max: 255 }).map((code) => String.fromCharCode(code)),
);
/** Replaces, removes or inserts at a place. */
const change = fc.tuple(fc.nat({ max: 300 }), fc.constantFrom(0, 1, 2), octet);

function changed(text: string, changes: readonly (readonly [number, number, string])[]): string {
  return changes.reduce((before, [place, kind, character]) => {
    const at = place % before.length;
    const end = kind === 2 ? at : at + 1;
    return before.slice(0, at) + (kind === 1 ? "" : character) + before.slice(end);
  }, text);
}

/** What must not depend on the split: the error, and every message that was complete before it. */
function essence({ messages, error }: Transcript) {
  return { error, complete: messages.filter(({ isComplete }) => isComplete), heads: messages.map(({ start }) => start) };
}

test("the verdict on damaged messages does not depend on the split, and nothing but WireError is thrown", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...seeds),
      fc.array(change, { minLength: 1, maxLength: 3 }),
      offsets,
      ([kind, text], changes, places) => {
        const bytes = latin1(changed(text, changes));
        const whole = essence(transcribe(kind, [bytes]));
        assert.deepEqual(essence(transcribe(kind, singles(bytes))), whole);
        assert.deepEqual(essence(transcribe(kind, cut(bytes, edgesIn(bytes, places)))), whole);
      },
    ),
    { numRuns: 1000 },
  );
});

test("random bytes", () => {
  fc.assert(
    fc.property(
      fc.constantFrom<HeadKind>("request", "response"),
      fc.uint8Array({ minLength: 1, maxLength: 60 }),
      (kind, noise) => {
        const bytes = Buffer.from(noise);
        assert.deepEqual(essence(transcribe(kind, singles(bytes))), essence(transcribe(kind, [bytes])));
      },
    ),
    { numRuns: 300 },
  );
});

test("every split in two of every seed", () => {
  for (const [kind, text] of seeds) {
    const bytes = latin1(text);
    const whole = transcribe(kind, [bytes]);
    assert.equal(whole.error, "");
    for (let at = 1; at < bytes.length; at++) assert.deepEqual(transcribe(kind, cut(bytes, [at])), whole);
  }
});
