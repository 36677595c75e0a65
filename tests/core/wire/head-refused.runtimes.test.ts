import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import type { HeadKind } from "../../../core/wire/head-parser.ts";
import { HeadParser } from "../../../core/wire/head-parser.ts";
import { WireError } from "../../../core/wire/wire-error.ts";
import { LIMITS, singles } from "../../support/wire-transcript.ts";

const latin1 = (text: string) => Buffer.from(text, "latin1");
const GET = "GET / HTTP/1.1\r\n";
const OK = "HTTP/1.1 200 OK\r\n";

/** Feeds the text byte by byte. Returns the error's code and the offset of the byte that caused it; undefined if there is no error. */
function verdictOf(kind: HeadKind, text: string, limits = LIMITS): { code: string; at: number } | undefined {
  const parser = new HeadParser(kind, limits);
  for (const [at, piece] of singles(latin1(text)).entries()) {
    try {
      if (parser.push(piece, 0) >= 0) return undefined;
    } catch (thrown) {
      assert.ok(thrown instanceof WireError);
      return { code: thrown.code, at };
    }
  }
  return undefined;
}

function assertRefused(kind: HeadKind, text: string, code: string, at: number, limits = LIMITS): void {
  assert.deepEqual(verdictOf(kind, text, limits), { code, at }, "byte by byte");
  const whole = new HeadParser(kind, limits);
  assert.throws(
    () => whole.push(latin1(text), 0),
    (thrown: unknown) => thrown instanceof WireError && thrown.code === code,
    "whole",
  );
}

// [what, bytes up to the offending one, code]; the last byte is the one that must be refused
const badRequests: readonly (readonly [string, string, string])[] = [
  ["a space first", " ", "bad_head"],
  ["LF first", "\n", "bad_head"],
  ["CR without LF before", "\rG", "bad_head"],
  ["two empty lines before", "\r\n\r", "bad_head"],
  ["a method that is no token", "GE(", "bad_head"],
  ["a tab after the method", "GET\t", "bad_head"],
  ["a line end after the method", "GET\r", "bad_head"],
  ["a method of 33 characters", "M".repeat(33), "bad_head"],
  ["TLS instead of HTTP", "\x16", "bad_head"],
  ["an empty target", "GET  ", "bad_head"],
  ["a tab in the target", "GET /a\t", "bad_head"],
  ["NUL in the target", "GET /a\0", "bad_head"],
  ["DEL in the target", "GET /a\x7f", "bad_head"],
  ["UTF-8 in the target", "GET /\xc3", "bad_head"],
  ["a quote in the target", 'GET /"', "bad_head"],
  ["a backslash in the target", "GET /a\\", "bad_head"],
  ["a fragment in the target", "GET /a#", "bad_head"],
  ["HTTP/0.9", "GET /\r", "bad_head"],
  ["HTTP/0.9 with LF", "GET /\n", "bad_head"],
  ["two spaces before the version", "GET /  ", "bad_head"],
  ["two targets", "GET /a b", "bad_head"],
  ["lower-case http", "GET / h", "bad_head"],
  ["mixed-case http", "GET / Ht", "bad_head"],
  ["another protocol", "GET / R", "bad_head"],
  ["HTTP/0", "GET / HTTP/0", "bad_version"],
  ["HTTP/2", "GET / HTTP/2", "bad_version"],
  ["the preface of HTTP/2", "PRI * HTTP/2", "bad_version"],
  ["HTTP/9", "GET / HTTP/9", "bad_version"],
  ["HTTP/1.2", "GET / HTTP/1.2", "bad_version"],
  ["no major version", "GET / HTTP/.", "bad_head"],
  ["two-digit major version", "GET / HTTP/11", "bad_head"],
  ["no minor version", "GET / HTTP/1\r", "bad_head"],
  ["a comma in the version", "GET / HTTP/1,", "bad_head"],
  ["two-digit minor version", "GET / HTTP/1.10", "bad_head"],
  ["a space after the version", "GET / HTTP/1.1 ", "bad_head"],
  ["LF alone after the version", "GET / HTTP/1.1\n", "bad_head"],
  ["CR alone after the version", "GET / HTTP/1.1\ra", "bad_head"],
  ["CR CR LF after the version", "GET / HTTP/1.1\r\r", "bad_head"],
  ["LF alone instead of headers", `${GET}\n`, "bad_head"],
  ["a folded first header", `${GET} `, "bad_head"],
  ["a tab before the first header", `${GET}\t`, "bad_head"],
  ["a folded header", `${GET}A: b\r\n `, "bad_head"],
  ["a folded empty header", `${GET}A:\r\n\t`, "bad_head"],
  ["an empty name", `${GET}:`, "bad_head"],
  ["a space before the colon", `${GET}A `, "bad_head"],
  ["a tab before the colon", `${GET}A\t`, "bad_head"],
  ["a name without colon", `${GET}A\r`, "bad_head"],
  ["NUL in a name", `${GET}A\0`, "bad_head"],
  ["obs-text in a name", `${GET}A\x80`, "bad_head"],
  ["a bracket in a name", `${GET}A(`, "bad_head"],
  ["a quote in a name", `${GET}"`, "bad_head"],
  ["NUL in a value", `${GET}A: b\0`, "bad_head"],
  ["DEL in a value", `${GET}A: b\x7f`, "bad_head"],
  ["vertical tab in a value", `${GET}A: \v`, "bad_head"],
  ["LF alone after a value", `${GET}A: b\n`, "bad_head"],
  ["LF alone after an empty value", `${GET}A:\n`, "bad_head"],
  ["CR inside a value", `${GET}A: b\rC`, "bad_head"],
  ["CR CR LF after a value", `${GET}A: b\r\r`, "bad_head"],
  ["CR and another byte at the end", `${GET}A: b\r\n\rX`, "bad_head"],
  ["CR CR at the end", `${GET}\r\r`, "bad_head"],
];

test("requests that are refused, at the first byte that is wrong", async (t) => {
  for (const [what, text, code] of badRequests) {
    await t.test(what, () => assertRefused("request", text, code, text.length - 1));
  }
});

const badResponses: readonly (readonly [string, string, string])[] = [
  ["an empty line before", "\r", "bad_head"],
  ["a request", "G", "bad_head"],
  ["another protocol", "HTTPS", "bad_head"],
  ["lower-case http", "h", "bad_head"],
  ["HTTP/2", "HTTP/2", "bad_version"],
  ["HTTP/0.9", "HTTP/0", "bad_version"],
  ["HTTP/1.2", "HTTP/1.2", "bad_version"],
  ["two-digit minor version", "HTTP/1.11", "bad_head"],
  ["a tab before the status", "HTTP/1.1\t", "bad_head"],
  ["two spaces before the status", "HTTP/1.1  ", "bad_head"],
  ["no status", "HTTP/1.1\r", "bad_head"],
  ["status 099", "HTTP/1.1 0", "bad_head"],
  ["status 600", "HTTP/1.1 6", "bad_head"],
  ["status 999", "HTTP/1.1 9", "bad_head"],
  ["a status with a letter", "HTTP/1.1 2x", "bad_head"],
  ["a status of one digit", "HTTP/1.1 2 ", "bad_head"],
  ["a status of two digits", "HTTP/1.1 20 ", "bad_head"],
  ["a status of four digits", "HTTP/1.1 2000", "bad_head"],
  ["a tab after the status", "HTTP/1.1 200\t", "bad_head"],
  ["LF alone after the status", "HTTP/1.1 200\n", "bad_head"],
  ["NUL in the reason", "HTTP/1.1 200 O\0", "bad_head"],
  ["LF alone after the reason", "HTTP/1.1 200 OK\n", "bad_head"],
  ["CR alone after the reason", "HTTP/1.1 200 OK\rA", "bad_head"],
  ["a folded header", `${OK}A: b\r\n `, "bad_head"],
  ["a space before the colon", `${OK}A `, "bad_head"],
];

test("responses that are refused, at the first byte that is wrong", async (t) => {
  for (const [what, text, code] of badResponses) {
    await t.test(what, () => assertRefused("response", text, code, text.length - 1));
  }
});

test("every octet in every place", async (t) => {
  const visible = (code: number) => code > 0x20 && code < 0x7f;
  const isToken = (code: number) => visible(code) && !'"(),/:;<=>?@[\\]{}'.includes(String.fromCharCode(code));
  const isText = (code: number) => code === 9 || code === 0x20 || visible(code) || code > 0x7f;
  const isTarget = (code: number) => visible(code) && !'"#<>\\^`{|}'.includes(String.fromCharCode(code));
  const places: readonly (readonly [string, HeadKind, string, string, (code: number) => boolean])[] = [
    ["method", "request", "G", "T / HTTP/1.1\r\n\r\n", isToken],
    ["target", "request", "GET /", "a HTTP/1.1\r\n\r\n", isTarget],
    ["name", "request", `${GET}A`, "a: b\r\n\r\n", (code) => isToken(code) || code === 0x3a],
    ["value", "request", `${GET}A: b`, "b\r\n\r\n", isText],
    ["reason", "response", "HTTP/1.1 200 O", "K\r\n\r\n", isText],
  ];
  for (const [place, kind, before, after, isAllowed] of places) {
    await t.test(place, () => {
      for (let code = 0; code < 256; code++) {
        // These two end the part; what follows them is then judged as the next one.
        if (code === 0x20 && (place === "method" || place === "target")) continue;
        const text = before + String.fromCharCode(code) + after;
        const isRead = verdictOf(kind, text) === undefined;
        assert.equal(isRead, isAllowed(code), `octet ${code}`);
      }
    });
  }
});

test("limits", async (t) => {
  const text = `${GET}A: b\r\nC: d\r\n\r\n`;

  await t.test("a head of exactly the allowed size is read", () => {
    assert.equal(verdictOf("request", text, { headBytes: text.length, headerCount: 2 }), undefined);
    assert.equal(verdictOf("request", `\r\n${text}`, { headBytes: text.length, headerCount: 2 }), undefined);
  });
  await t.test("one byte less is refused with the last byte that fits", () => {
    assertRefused("request", text, "head_too_large", text.length - 2, { headBytes: text.length - 1, headerCount: 2 });
  });
  await t.test("one header more is refused at its first byte", () => {
    assertRefused("request", text, "head_too_large", text.indexOf("C"), { headBytes: 1000, headerCount: 1 });
  });
  await t.test("a wrong byte beyond the limit does not change the verdict", () => {
    assertRefused("request", `${GET}A: b\0`, "head_too_large", GET.length, { headBytes: GET.length + 1, headerCount: 9 });
  });
  await t.test("a target without end", () => {
    const endless = `GET /${"a".repeat(100)}`;
    assertRefused("request", endless, "head_too_large", 63, { headBytes: 64, headerCount: 9 });
  });
});
