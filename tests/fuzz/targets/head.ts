import assert from "node:assert/strict";
import { requestLines, responseLines } from "../../../core/wire/forwarded-headers.ts";
import { isKeptAlive, requestFraming, responseFraming } from "../../../core/wire/framing.ts";
import type { HeadKind } from "../../../core/wire/head-parser.ts";
import { HeadParser } from "../../../core/wire/head-parser.ts";
import { checkHost, splitTarget } from "../../../core/wire/request-target.ts";
import { WireError } from "../../../core/wire/wire-error.ts";
import { cut, headersOf, LIMITS, singles } from "../../support/wire-transcript.ts";
import type { Target } from "../fuzz.ts";

const latin1 = (text: string) => Buffer.from(text, "latin1");

/** Heads of both kinds: the whole and its splits get one verdict, a grammar written as patterns gives the same, and what uses a head copes with it. */
export const head: Target = {
  name: "head",
  seeds: [
    latin1("POST /v1/a?b=c HTTP/1.1\r\nHost: a:80\r\nContent-Length: 5\r\nConnection: keep-alive, x\r\nX: 1\r\n\r\nhello"),
    latin1("\r\nPUT http://a/ HTTP/1.0\r\nhost: a\r\nTransfer-Encoding: chunked\r\nX-Forwarded-For:\t b \r\n\r\n"),
    latin1("HTTP/1.1 200 OK\r\nDate: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\nTrailer: a\r\n\r\n"),
    latin1("HTTP/1.0 304\r\nContent-Length: 7\r\nA:\x80\r\n\r\n"),
  ],
  words: [
    ...'\r\n|\r\n\r\n|\n|\r| |\t|:|: |\0|\x7f|\x80|,|;|=|"|\\|/|?|#|*|%41|GET |POST / HTTP/1.1\r\n|HTTP/1.1|HTTP/1.0|HTTP/2.0|HTTP/1.1 200 OK\r\n'.split(
      "|",
    ),
    ..."Host: a\r\n|Content-Length: 5\r\n|Transfer-Encoding: chunked\r\n|Connection: close\r\n|X_Y: 1\r\n|x-gateway-a: 1\r\n|Upgrade: x\r\n|http://a|[::1]".split(
      "|",
    ),
    "a".repeat(300),
    "A: b\r\n".repeat(60),
  ],
  check(input, dice) {
    return (["request", "response"] as const)
      .map((kind) => checkKind(kind, input, cut(input, dice.places(input.length, 6))))
      .join("/");
  },
};

/** What a parser makes of one head. */
interface Read {
  readonly error: string;
  /** Where the head ends; -1 while it has not. */
  readonly end: number;
  readonly parts: unknown;
}

function checkKind(kind: HeadKind, input: Buffer, pieces: readonly Buffer[]): string {
  const whole = read(kind, [input]);
  assert.deepEqual(read(kind, singles(input)), whole, `${kind} byte by byte`);
  assert.deepEqual(read(kind, pieces), whole, `${kind} in pieces`);
  const expected = byPatterns(kind, input.toString("latin1"));
  if (whole.end >= 0 || expected !== undefined) assert.deepEqual(whole.parts, expected, `${kind} by patterns`);
  return whole.end >= 0 ? used(kind, input) : whole.error;
}

function read(kind: HeadKind, pieces: readonly Buffer[]): Read {
  const parser = new HeadParser(kind, LIMITS);
  let offset = 0;
  try {
    for (const piece of pieces) {
      const end = parser.push(piece, 0);
      if (end >= 0) {
        const { method, target, status, minor, reason } = parser.head;
        return { error: "", end: offset + end, parts: [method, target, status, minor, reason, headersOf(parser.head)] };
      }
      offset += piece.length;
    }
  } catch (thrown) {
    return { error: codeOf(thrown), end: -1, parts: undefined };
  }
  return { error: "", end: -1, parts: undefined };
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]";
const REQUEST_LINE = new RegExp(`^(${TOKEN}{1,32}) ([\\w.~:/?[\\]@!$&'()*+,;=%-]+) HTTP/1\\.([01])$`);
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?$/;
const HEADER_LINE = new RegExp(`^(${TOKEN}+):[ \\t]*([\\t\\x20-\\x7e\\x80-\\xff]*?)[ \\t]*$`);

/** The same head by regular expressions; undefined where it is not whole or not right. */
function byPatterns(kind: HeadKind, text: string): unknown {
  const from = kind === "request" && text.startsWith("\r\n") ? 2 : 0;
  const end = text.indexOf("\r\n\r\n", from);
  if (end < 0 || end + 4 - from > LIMITS.headBytes) return undefined;
  const [first = "", ...lines] = text.slice(from, end).split("\r\n");
  const headers = lines.map((line) => HEADER_LINE.exec(line)?.slice(1, 3));
  if (headers.includes(undefined) || headers.length > LIMITS.headerCount) return undefined;
  if (kind === "request") {
    const line = REQUEST_LINE.exec(first);
    return line === null ? undefined : [line[1], line[2], 0, Number(line[3]), "", headers];
  }
  const line = STATUS_LINE.exec(first);
  return line === null ? undefined : ["", "", Number(line[2]), Number(line[1]), line[3] ?? "", headers];
}

/** Puts a head through all that the router does with one; only WireError may be thrown, and no line may be made up. */
function used(kind: HeadKind, input: Buffer): string {
  const parser = new HeadParser(kind, LIMITS);
  parser.push(input, 0);
  const { head } = parser;
  const steps =
    kind === "request"
      ? [() => checkHost(head), () => requestFraming(head), () => splitTarget(head.target), () => isKeptAlive(head)]
      : [() => responseFraming(head, "POST"), () => isKeptAlive(head)];
  const codes = steps.map(codeOfStep);
  if (codes.every((code) => code === "")) {
    const kept = kind === "request" ? requestLines(head) : responseLines(head);
    const lines = head.text.split("\r\n");
    for (const line of kept.split("\r\n").slice(0, -1)) assert.ok(lines.includes(line), "a line that was not sent");
    assert.doesNotMatch(kept, /^(transfer-encoding|content-length|connection|keep-alive|te|upgrade|trailer):/im);
    if (kind === "request") assert.doesNotMatch(kept, /^([^:\r\n]*_|host:|x-gateway-|x-forwarded-|forwarded:)/im);
  }
  return codes.join(",");
}

function codeOfStep(step: () => unknown): string {
  try {
    step();
    return "";
  } catch (thrown) {
    return codeOf(thrown);
  }
}

function codeOf(thrown: unknown): string {
  if (thrown instanceof WireError) return thrown.message;
  throw thrown;
}
