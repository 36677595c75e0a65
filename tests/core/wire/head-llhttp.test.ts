/** llhttp's own cases in its strict modes, read by head parser, framing and chunked decoder together. Host is left out: most cases have none. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import type { HeadKind } from "../../../core/wire/head.ts";
import { sharedPath } from "../../support/shared.ts";
import { singles, type Transcript, transcribe } from "../../support/wire-transcript.ts";

/** "surplus": bytes after a message that ends its connection. */
type Verdict = "read" | "refused" | "surplus";

interface Case {
  readonly kind: HeadKind;
  readonly name: string;
  readonly bytes: Buffer;
  readonly hasNoBodies: boolean;
  readonly verdict: Verdict;
}

/** Every case we judge otherwise than llhttp: ours, and why. */
const DIFFERENCES: Readonly<Record<string, readonly [ours: Verdict, why: string]>> = {
  "request/connection CRLF between requests, implicit `keep-alive`": [
    "refused",
    "two empty lines before a request; one is ignored",
  ],
  "request/connection Multiple tokens with folding and LWS": [
    "refused",
    "no upgrade: what follows is the next request, and is none",
  ],
  "request/connection Upgrade GET request": ["refused", "no upgrade: what follows is the next request, and is none"],
  "request/connection Upgrade POST request": ["refused", "no upgrade: what follows is the next request, and is none"],
  "request/content-length Error on `Content-Length` overflow": [
    "read",
    "the head is not complete, and framing is judged when it is",
  ],
  "request/content-length Error on duplicate `Content-Length`": [
    "read",
    "the head is not complete, and framing is judged when it is",
  ],
  "request/invalid HTTP protocol and ANNOUNCE method": ["read", "any token is a method here; the server answers 405"],
  "request/invalid Invalid method": ["read", "any token is a method here; the server answers 405"],
  "request/method CONNECT request": ["surplus", "no tunnel: HTTP/1.0 ends with its request"],
  "request/method CONNECT with body": ["surplus", "no tunnel: ten bytes of body, and one more"],
  "request/method SOURCE request with ICE": ["refused", "not HTTP"],
  "request/method OPTIONS request with RTSP": ["refused", "not HTTP"],
  "request/method ANNOUNCE request with RTSP": ["refused", "not HTTP"],
  "request/method PRI request HTTP2": ["refused", "no HTTP/2: what follows is the next request, and is none"],
  "request/sample No HTTP version": ["refused", "HTTP/0.9"],
  "request/transfer-encoding POST with `chunked` as last transfer-encoding": ["refused", "codings other than chunked: 501"],
  "request/transfer-encoding POST with `chunked` as last transfer-encoding (multiple headers)": [
    "refused",
    "codings other than chunked: 501",
  ],
  "request/uri Quotes in URI": ["refused", "RFC 3986 has no such character"],
  "request/uri Query URL with vertical bar character": ["refused", "RFC 3986 has no such character"],
  "request/uri Fragment in URI": ["refused", "RFC 9112 3.2 has no fragment"],
  "response/connection HTTP 101 response with Upgrade and Content-Length header": ["refused", "we never ask for an upgrade"],
  "response/connection HTTP 101 response with Upgrade and Transfer-Encoding header": ["refused", "we never ask for an upgrade"],
  "response/connection HTTP 304 with Content-Length": ["refused", "an empty line before a response"],
  "response/connection HTTP 100 first, then 400": ["refused", "an empty line before a response"],
  "response/pipelining Should parse multiple events": ["refused", "an empty line before a response"],
  "response/sample Response starting with CRLF": ["refused", "an empty line before a response"],
  "response/sample RTSP response": ["refused", "not HTTP"],
  "response/sample ICE response": ["refused", "not HTTP"],
  "response/sample HTTP version 0.9": ["refused", "HTTP/0.9"],
  "response/transfer-encoding `chunked` before other transfer-encoding": ["refused", "codings other than chunked"],
  "response/transfer-encoding multiple transfer-encoding where chunked is not the last one": [
    "refused",
    "codings other than chunked",
  ],
  "response/transfer-encoding `chunkedchunked` transfer-encoding does not enable chunked enconding": [
    "refused",
    "codings other than chunked",
  ],
};

/** Pauses and the hand-over at an upgrade are calls into the program, not errors. */
const PAUSES: readonly number[] = [21, 22, 23];
const AFTER_CLOSE = 5;

function casesOf(root: string, kind: HeadKind): Case[] {
  const files = readdirSync(join(root, kind)).filter((file) => file.endsWith(".md"));
  return files.flatMap((file) => casesIn(readFileSync(join(root, kind, file), "utf8"), kind, file.replace(".md", "")));
}

/** A case is a title, a line of meta data, an http block and a log block, in this order. */
function casesIn(page: string, kind: HeadKind, file: string): Case[] {
  const cases: Case[] = [];
  let title = "";
  let meta = { type: "", skipBody: false };
  let input = "";
  for (const [, heading, json, http, log] of page.matchAll(
    /^#+ +(.*)$|<!--\s*meta=(\{.*?\})\s*-->|```http\n([\s\S]*?)```|```log\n([\s\S]*?)```/gm,
  )) {
    if (heading !== undefined) title = heading;
    if (json !== undefined) meta = JSON.parse(json);
    if (http !== undefined) input = http;
    if (log === undefined || meta.type.includes("lenient")) continue;
    cases.push({
      kind,
      name: `${kind}/${file} ${title}`,
      bytes: bytesOf(input),
      hasNoBodies: meta.skipBody === true,
      verdict: verdictOf(log),
    });
  }
  return cases;
}

function bytesOf(input: string): Buffer {
  const text = input
    .replace(/\n$/, "")
    .replace(/\\\n/g, "")
    .replace(/\n/g, "\r\n")
    .replace(/\\r/g, "\r")
    .replace(/\\n/g, "\n")
    .replace(/\\t/g, "\t")
    .replace(/\\f/g, "\f")
    // Many cases about something else have a fragment, which we refuse; one case is about that.
    .replace("#hey", "");
  return Buffer.concat(
    text
      .split(/(\\x[0-9a-fA-F]{2})/)
      .map((part) => (part.startsWith("\\x") ? Buffer.from(part.slice(2), "hex") : Buffer.from(part))),
  );
}

function verdictOf(log: string): Verdict {
  const code = Number(/error code=(\d+)/.exec(log)?.[1] ?? 0);
  if (code === 0 || PAUSES.includes(code)) return "read";
  return code === AFTER_CLOSE ? "surplus" : "refused";
}

function ours({ error }: Transcript): Verdict {
  if (error === "") return "read";
  return error === "surplus" ? "surplus" : "refused";
}

test("llhttp's strict cases", async (t) => {
  const root = sharedPath("corpora/llhttp-http1/test");
  if (root === undefined) {
    t.skip("the llhttp corpus is not here");
    return;
  }
  const cases = [...casesOf(root, "request"), ...casesOf(root, "response")];
  assert.ok(cases.length > 150, `only ${cases.length} cases were found`);
  const unused = new Set(Object.keys(DIFFERENCES));
  for (const one of cases) {
    await t.test(one.name, () => {
      const whole = transcribe(one.kind, [one.bytes], one.hasNoBodies);
      const split = transcribe(one.kind, singles(one.bytes), one.hasNoBodies);
      const expected = DIFFERENCES[one.name]?.[0] ?? one.verdict;
      assert.deepEqual([ours(whole), ours(split)], [expected, expected]);
      if (whole.error === "") assert.deepEqual(whole, split);
      if (expected !== one.verdict) unused.delete(one.name);
    });
  }
  assert.deepEqual([...unused], [], "differences that are none");
});
