import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import type { HeadKind } from "../../../core/wire/head-parser.ts";
import { HeadParser } from "../../../core/wire/head-parser.ts";
import { HEADER } from "../../../core/wire/header-names.ts";
import { headersOf, LIMITS, singles } from "../../support/wire-transcript.ts";

const latin1 = (text: string) => Buffer.from(text, "latin1");

/** Pushes the pieces of one head, which ends with the last of them. */
function parse(kind: HeadKind, pieces: readonly Buffer[]) {
  const parser = new HeadParser(kind, LIMITS);
  const ends = pieces.map((piece) => parser.push(piece, 0));
  assert.deepEqual(ends, [...pieces.slice(1).map(() => -1), pieces.at(-1)!.length]);
  return parser.head;
}

const GET = "GET / HTTP/1.1\r\n";
const OK = "HTTP/1.1 200 OK\r\n";

// [what, bytes, expected start line and headers]
const goodRequests: readonly (readonly [string, string, unknown])[] = [
  ["no headers", `${GET}\r\n`, ["GET", "/", 1]],
  ["one header", `${GET}Host: a\r\n\r\n`, ["GET", "/", 1, ["Host", "a"]]],
  ["HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", ["GET", "/", 0]],
  ["an empty line before", `\r\n${GET}A: b\r\n\r\n`, ["GET", "/", 1, ["A", "b"]]],
  ["all of RFC 3986 in the target", "GET /a-._~:?[]@!$&'()*+,;=%41 HTTP/1.1\r\n\r\n", ["GET", "/a-._~:?[]@!$&'()*+,;=%41", 1]],
  ["absolute-form", "GET http://a:1/b?c HTTP/1.1\r\n\r\n", ["GET", "http://a:1/b?c", 1]],
  ["asterisk-form", "OPTIONS * HTTP/1.1\r\n\r\n", ["OPTIONS", "*", 1]],
  ["authority-form", "CONNECT a:1 HTTP/1.1\r\n\r\n", ["CONNECT", "a:1", 1]],
  ["any token as method", "m!#$%&'*+-.^_`|~9 / HTTP/1.1\r\n\r\n", ["m!#$%&'*+-.^_`|~9", "/", 1]],
  ["a method of 32 characters", `${"M".repeat(32)} / HTTP/1.1\r\n\r\n`, ["M".repeat(32), "/", 1]],
  ["white space around values", `${GET}A: \t b c\t \r\nB:d\r\n\r\n`, ["GET", "/", 1, ["A", "b c"], ["B", "d"]]],
  ["empty values", `${GET}A:\r\nB: \t\r\n\r\n`, ["GET", "/", 1, ["A", ""], ["B", ""]]],
  ["a colon in a value", `${GET}A::b\r\n\r\n`, ["GET", "/", 1, ["A", ":b"]]],
  ["obs-text in values", `${GET}A: \x80\xff\r\n\r\n`, ["GET", "/", 1, ["A", "\x80\xff"]]],
  ["a name of odd tokens", `${GET}!#$%&'*+-.^_\`|~: b\r\n\r\n`, ["GET", "/", 1, ["!#$%&'*+-.^_`|~", "b"]]],
  ["__proto__", `${GET}__proto__: b\r\n\r\n`, ["GET", "/", 1, ["__proto__", "b"]]],
];

test("requests that are read", async (t) => {
  for (const [what, text, expected] of goodRequests) {
    await t.test(what, () => {
      for (const pieces of [[latin1(text)], singles(latin1(text))]) {
        const head = parse("request", pieces);
        assert.deepEqual([head.method, head.target, head.minor, ...headersOf(head)], expected);
        assert.equal(head.text, text.replace(/^\r\n/, ""));
      }
    });
  }
});

const goodResponses: readonly (readonly [string, string, unknown])[] = [
  ["no headers", `${OK}\r\n`, [200, "OK", 1]],
  ["HTTP/1.0", "HTTP/1.0 404 Not Found\r\n\r\n", [404, "Not Found", 0]],
  ["an empty reason", "HTTP/1.1 200 \r\n\r\n", [200, "", 1]],
  ["no space before an absent reason", "HTTP/1.1 200\r\n\r\n", [200, "", 1]],
  ["a reason that begins with a space", "HTTP/1.1 200  OK\r\n\r\n", [200, " OK", 1]],
  ["tab and obs-text in the reason", "HTTP/1.1 500 a\tb\xff\r\n\r\n", [500, "a\tb\xff", 1]],
  ["the lowest status", "HTTP/1.1 100 C\r\n\r\n", [100, "C", 1]],
  ["the highest status", "HTTP/1.1 599 X\r\n\r\n", [599, "X", 1]],
  ["headers", `${OK}a: b\r\nc:\r\n\r\n`, [200, "OK", 1, ["a", "b"], ["c", ""]]],
];

test("responses that are read", async (t) => {
  for (const [what, text, expected] of goodResponses) {
    await t.test(what, () => {
      for (const pieces of [[latin1(text)], singles(latin1(text))]) {
        const head = parse("response", pieces);
        assert.deepEqual([head.status, head.reason, head.minor, ...headersOf(head)], expected);
      }
    });
  }
});

test("one parser reads one head after the other", () => {
  const parser = new HeadParser("request", LIMITS);
  const bytes = latin1("POST /a HTTP/1.1\r\nA: 1\r\n\r\n\r\nGET /b HTTP/1.0\r\n\r\nGET /c");
  assert.equal(parser.hasStarted, false);

  const first = parser.push(bytes, 0);
  assert.equal(parser.hasStarted, true);
  const kept = parser.head;
  parser.reset();
  assert.equal(parser.hasStarted, false);
  assert.throws(() => parser.head, TypeError);

  const second = parser.push(bytes, first);
  assert.deepEqual([parser.head.method, parser.head.target, parser.head.minor, parser.head.count], ["GET", "/b", 0, 0]);
  parser.reset();

  assert.equal(parser.push(bytes, second), -1);
  assert.equal(parser.hasStarted, true);
  assert.deepEqual([kept.target, kept.get("a")], ["/a", "1"]);
});

test("an empty line before a request is not its beginning", () => {
  const parser = new HeadParser("request", LIMITS);
  parser.push(latin1("\r"), 0);
  parser.push(latin1("\n"), 0);
  assert.equal(parser.hasStarted, false);
  parser.push(latin1("G"), 0);
  assert.equal(parser.hasStarted, true);
});

test("headers by name, number and place", () => {
  const text = `${GET}hOST: a\r\nAccept: b\r\nx-own: c\r\nACCEPT: d\r\nX-Own: \r\nUnknown-Host: e\r\n\r\n`;
  const head = parse("request", [latin1(text)]);
  assert.deepEqual(
    ["host", "accept", "x-own", "cookie", "x-ow", "y-own", "constructor"].map((name) => head.get(name)),
    ["a", "b, d", "c, ", undefined, undefined, undefined, undefined],
  );
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5].map((i) => head.id(i)),
    [HEADER.host, HEADER.accept, 0, HEADER.accept, 0, 0],
  );
  assert.equal(head.text.slice(head.lineStart(0), head.lineEnd(1)), "hOST: a\r\nAccept: b\r\n");
  assert.equal(head.text.slice(head.lineStart(5), head.nameEnd(5)), "Unknown-Host");
});

test("every known header is found in any case, and nothing else is taken for it", () => {
  for (const [name, id] of Object.entries(HEADER)) {
    const odd = name.replace(/[a-z]/g, (letter, at: number) => (at % 2 === 0 ? letter.toUpperCase() : letter));
    const lines = [`${name}: 1`, `${odd}: 2`, `${name.toUpperCase()}: 3`, `${name}x: 4`, `~${name.slice(1)}: 5`];
    const head = parse("request", [latin1(`${GET}${lines.join("\r\n")}\r\n\r\n`)]);
    assert.deepEqual(
      [0, 1, 2, 3, 4].map((i) => head.id(i)),
      [id, id, id, 0, 0],
      name,
    );
    assert.equal(head.get(name), "1, 2, 3");
  }
});

// [what, Content-Type lines, whether it is just JSON, whether it begins as an event stream]
const contentTypes: readonly (readonly [string, readonly string[], boolean, boolean])[] = [
  ["none", [], false, false],
  ["JSON", ["application/json"], true, false],
  ["JSON within white space", [" \tapplication/json \t"], true, false],
  ["JSON with a parameter", ["application/json; a=b"], false, false],
  ["JSON in other letters", ["Application/JSON"], false, false],
  ["JSON twice", ["application/json", "application/json"], false, false],
  ["JSON after another", ["text/plain", "application/json"], false, false],
  ["the beginning of JSON", ["application/jso"], false, false],
  ["an event stream", ["text/event-stream"], false, true],
  ["an event stream with a parameter, in other letters", [" Text/EVENT-Stream; charset=utf-8"], false, true],
  ["the beginning of an event stream", ["text/event-strea"], false, false],
  ["an event stream after another", ["text/plain", "text/event-stream"], false, false],
  ["an empty one before an event stream", ["", "text/event-stream"], false, false],
];

test("a value is compared in place", async (t) => {
  const id = HEADER["content-type"];
  for (const [what, values, isJson, isEvents] of contentTypes) {
    await t.test(what, () => {
      const lines = values.map((value) => `Content-Type:${value}\r\n`);
      const head = parse("response", [latin1(`${OK}Accept: m\r\n${lines.join("")}Vary: m\r\n\r\n`)]);
      assert.deepEqual([head.has(id, "application/json"), head.begins(id, "text/event-stream")], [isJson, isEvents]);
    });
  }
});

test("a method and a target do not depend on those before them", () => {
  for (const target of ["/v1/models", "/v1/models", "/v1/model", "/v1/modelz", "/v1/models?", "/v1/models/", "/", "/v1/models"]) {
    for (const method of ["GET", "POST", "GE", "POSTS", "PUT"]) {
      const head = parse("request", [latin1(`${method} ${target} HTTP/1.1\r\nHost: a\r\n\r\n`)]);
      assert.deepEqual([head.method, head.target], [method, target]);
    }
  }
});
