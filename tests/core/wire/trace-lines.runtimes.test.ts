import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Trace } from "../../../core/contract/trace.ts";
import { traceLine, withoutTraceLines } from "../../../core/wire/trace-lines.ts";

const own: Trace = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7100000000", parentId: "", state: "" };
const continued: Trace = { ...own, parentId: "00f067aa0ba902b7" };

describe("withoutTraceLines", () => {
  const rows: readonly (readonly [lines: string, ofOwn: string, ofContinued: string])[] = [
    ["", "", ""],
    ["A: b\r\n", "A: b\r\n", "A: b\r\n"],
    ["traceparent: x\r\n", "", ""],
    ["A: b\r\nTraceParent:x\r\nC: d\r\n", "A: b\r\nC: d\r\n", "A: b\r\nC: d\r\n"],
    ["traceparent: x\r\nA: b\r\nTRACEPARENT: y\r\n", "A: b\r\n", "A: b\r\n"],
    ["tracestate: x\r\nA: b\r\n", "A: b\r\n", "tracestate: x\r\nA: b\r\n"],
    ["X-Traceparent: x\r\n", "X-Traceparent: x\r\n", "X-Traceparent: x\r\n"],
    ["traceparent2: x\r\n", "traceparent2: x\r\n", "traceparent2: x\r\n"],
    ["A: traceparent: x\r\n", "A: traceparent: x\r\n", "A: traceparent: x\r\n"],
    ["traceparent:\r\nA: b\r\n", "A: b\r\n", "A: b\r\n"],
    ["traceparent: \x85\u00e9\r\nA: b\r\n", "A: b\r\n", "A: b\r\n"],
  ];
  for (const [lines, ofOwn, ofContinued] of rows) {
    it(JSON.stringify(lines), () => {
      assert.equal(withoutTraceLines(lines, own), ofOwn);
      assert.equal(withoutTraceLines(lines, continued), ofContinued);
    });
  }
});

it("each try has a span of its own", () => {
  assert.equal(traceLine(own, 3), "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7100000003-01\r\n");
  assert.equal(traceLine(own, 4), "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7100000004-01\r\n");
});
