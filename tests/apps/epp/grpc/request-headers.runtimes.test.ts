import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Field } from "../../../../apps/epp/grpc/header-table.ts";
import { areTrailers, requestHead } from "../../../../apps/epp/grpc/request-headers.ts";

const [method, scheme, path]: readonly Field[] = [
  [":method", "POST"],
  [":scheme", "http"],
  [":path", "/a"],
];
const GOOD: readonly Field[] = [method!, scheme!, path!];

/** Regular headers that neither a request nor trailers may have. */
const BAD_REGULAR: readonly (readonly [why: string, field: Field])[] = [
  ["an uppercase name", ["X-a", "1"]],
  ["an empty name", ["", "1"]],
  ["a space in a name", ["x a", "1"]],
  ["a colon in a name", ["x:a", "1"]],
  ["a control character in a name", ["x\x7f", "1"]],
  ["a byte beyond ASCII in a name", ["x\xe4", "1"]],
  ["a NUL in a value", ["x", "a\0b"]],
  ["a line feed in a value", ["x", "a\nb: c"]],
  ["a carriage return in a value", ["x", "a\rb"]],
  ["a space in front of a value", ["x", " a"]],
  ["a tab behind a value", ["x", "a\t"]],
  ["connection", ["connection", "close"]],
  ["keep-alive", ["keep-alive", "timeout=5"]],
  ["proxy-connection", ["proxy-connection", "keep-alive"]],
  ["transfer-encoding", ["transfer-encoding", "chunked"]],
  ["upgrade", ["upgrade", "h2c"]],
  ["te with more than trailers", ["te", "trailers, deflate"]],
];

describe("the headers of a request", () => {
  for (const [name, fields, contentLength] of [
    ["no more than it must have", GOOD, -1],
    ["pseudo-headers in another order", [path!, method!, scheme!], -1],
    ["an authority", [...GOOD, [":authority", "x"] as const], -1],
    ["te: trailers", [...GOOD, ["te", "trailers"] as const], -1],
    ["bytes beyond ASCII, tabs and an empty value", [...GOOD, ["x", "a\t\xe4"] as const, ["y", ""] as const], -1],
    ["a content-length", [...GOOD, ["content-length", "12"] as const], 12],
    ["the same content-length twice", [...GOOD, ["content-length", "7"] as const, ["content-length", "7"] as const], 7],
  ] as const) {
    it(`may be: ${name}`, () => {
      assert.deepEqual(requestHead(fields), { path: "/a", contentLength });
    });
  }

  for (const [name, fields] of [
    ["no :method", [scheme!, path!]],
    ["no :scheme", [method!, path!]],
    ["no :path", [method!, scheme!]],
    ["an empty :path", [method!, scheme!, [":path", ""] as const]],
    ["a line feed in :path", [method!, scheme!, [":path", "/a\n"] as const]],
    ["a pseudo-header twice", [...GOOD, path!]],
    ["a pseudo-header of responses", [...GOOD, [":status", "200"] as const]],
    ["an unknown pseudo-header", [...GOOD, [":protocol", "websocket"] as const]],
    ["a pseudo-header behind a regular one", [method!, scheme!, ["x", "1"] as const, path!]],
    ["a content-length that is no number", [...GOOD, ["content-length", "1a"] as const]],
    ["a negative content-length", [...GOOD, ["content-length", "-1"] as const]],
    ["two content-lengths", [...GOOD, ["content-length", "1"] as const, ["content-length", "2"] as const]],
    ...BAD_REGULAR.map(([why, field]) => [why, [...GOOD, field]] as const),
  ] as const) {
    it(`may not be: ${name}`, () => {
      assert.equal(requestHead(fields), undefined);
    });
  }
});

describe("trailers", () => {
  it("may be regular headers", () => {
    assert.equal(areTrailers([["x", "1"]]), true);
    assert.equal(areTrailers([]), true);
  });

  for (const [name, field] of [["a pseudo-header", path!] as const, ...BAD_REGULAR]) {
    it(`may not be: ${name}`, () => {
      assert.equal(areTrailers([["x", "1"], field]), false);
    });
  }
});
