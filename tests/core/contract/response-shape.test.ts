import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertShape, type ResponseShape } from "../../../core/contract/response-shape.ts";
import { ResponseCheck } from "../../../core/stream/response-check.ts";

describe("a shape that can't be used", () => {
  const rows: readonly (readonly [name: string, shape: unknown, message: RegExp])[] = [
    ["no list", { document: '"results":[' }, /missing, or is none/],
    ["nothing", {}, /missing, or is none/],
    ["an empty list", { document: [] }, /must say what/],
    ["an empty text", { document: [""] }, /"" can't be looked for/],
    ["a key without an end", { document: ['"results'] }, /can't be looked for/],
    ["other characters than ASCII", { document: ['"é":'] }, /can't be looked for/],
    ["a long text", { document: ['"a":'], endings: ["x".repeat(201)] }, /can't be looked for/],
    ["a number", { document: ['"a":'], events: [5] }, /5 can't be looked for/],
  ];
  for (const [name, shape, message] of rows)
    it(name, () => assert.throws(() => assertShape(shape as ResponseShape), { name: "TypeError", message }));
});

it("one of a plugin's own is looked for", () => {
  const shape = { document: ['"results":[', '"data":['] };
  assertShape(shape);
  const lackOf = (text: string) => {
    const bytes = Buffer.from(text);
    const check = new ResponseCheck(shape, false);
    check.read(bytes, [0, bytes.length], 1);
    return check.flaw(bytes, bytes.length)?.what ?? "";
  };
  assert.deepEqual(['{"data" : []}', '{"results":null}', "data: 1"].map(lackOf), [
    "",
    'no "results" or "data"',
    'no "results" or "data"',
  ]);
});
