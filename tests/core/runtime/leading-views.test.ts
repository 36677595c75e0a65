import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LeadingViews } from "../../../core/runtime/leading-views.ts";

const SIZE = 4096;

describe("views of a buffer's first bytes", () => {
  for (const length of [0, 1, 200, 1023, 1024, SIZE - 1, SIZE]) {
    it(`${length} of ${SIZE} bytes`, () => {
      const views = new LeadingViews(SIZE);
      const view = views.of(length);
      assert.equal(view.length, length);
      views.buffer.fill(7);
      assert.deepEqual(view, Buffer.alloc(length, 7), "it shows the buffer's own bytes");
      assert.equal(views.of(length).length, length, "asked for again");
    });
  }

  it("makes a short one once", () => {
    const views = new LeadingViews(SIZE);
    assert.equal(views.of(200), views.of(200));
    assert.notEqual(views.of(200), views.of(201));
  });

  it("of another buffer are others", () => {
    const [one, other] = [new LeadingViews(SIZE), new LeadingViews(SIZE)];
    one.of(9).fill(1);
    other.of(9).fill(2);
    assert.deepEqual(one.of(9), Buffer.alloc(9, 1));
  });
});
