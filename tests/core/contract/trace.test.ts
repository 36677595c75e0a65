import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { innerSpanId, type Trace } from "../../../core/contract/trace.ts";

const traceWith = (spanId: string): Trace => ({ traceId: "0af7651916cd43dd8448eb211c80319c", spanId, parentId: "", state: "" });

describe("innerSpanId", () => {
  const rows: readonly (readonly [spanId: string, number: number, wanted: string])[] = [
    ["b7ad6b7100000000", 1, "b7ad6b7100000001"],
    ["b7ad6b71000000ff", 3, "b7ad6b7100000102"],
    ["b7ad6b71ffffffff", 1, "b7ad6b7100000000"],
    ["b7ad6b71fffffffe", 5, "b7ad6b7100000003"],
  ];
  for (const [spanId, number, wanted] of rows) {
    it(`${spanId} and ${number}: ${wanted}`, () => assert.equal(innerSpanId(traceWith(spanId), number), wanted));
  }

  it("gives each number an id of its own", () => {
    const ids = Array.from({ length: 1000 }, (_, number) => innerSpanId(traceWith("10000000ffffff00"), number));
    assert.equal(new Set(ids).size, 1000);
  });
});
