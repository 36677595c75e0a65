import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EventBoundary } from "../../../core/stream/event-boundary.ts";

const read = (boundary: EventBoundary, text: string) => boundary.read(Buffer.from(text), [0, text.length], 1);

describe("where the opening events of a stream end", () => {
  const cases: readonly { readonly name: string; readonly opening: number; readonly before: string; readonly first: string }[] = [
    { name: "at once where there are none", opening: 0, before: "", first: "d" },
    { name: "after one", opening: 1, before: "data: 1\n\n", first: "d" },
    { name: "after two", opening: 2, before: "event: a\ndata: 1\n\nevent: b\ndata: 2\n\n", first: "e" },
    { name: "with CRLF", opening: 2, before: "data: 1\r\n\r\ndata: 2\r\n\r\n", first: "d" },
    { name: "with CR", opening: 2, before: "data: 1\r\rdata: 2\r\r", first: "d" },
    { name: "after comments, where there are none", opening: 0, before: ": ping\n\n:\n\n", first: "d" },
    { name: "with comments between", opening: 2, before: ": a\n\ndata: 1\n: b\n\n: c\n\ndata: 2\n\n: d\r\n", first: "d" },
    { name: "with extra empty lines", opening: 2, before: "\n\ndata: 1\n\n\n\ndata: 2\n\n", first: "d" },
  ];
  for (const { name, opening, before, first } of cases) {
    it(`${name}, in any pieces`, () => {
      for (let cut = 0; cut <= before.length; cut++) {
        const boundary = new EventBoundary(opening);
        read(boundary, before.slice(0, cut));
        read(boundary, before.slice(cut));
        assert.equal(boundary.isOpeningOver, false, `cut at ${cut}`);
        read(boundary, first);
        assert.equal(boundary.isOpeningOver, true, `cut at ${cut}`);
      }
      const boundary = new EventBoundary(opening);
      read(boundary, before + first);
      assert.equal(boundary.isOpeningOver, true);
    });
  }

  it("is after the last of them, not before", () => {
    const boundary = new EventBoundary(2);
    for (const byte of "data: 1\n\ndata: 2\n") read(boundary, byte);
    assert.equal(boundary.isOpeningOver, false);
  });
});

describe("where a stream stands", () => {
  it("is followed over all spans of a read, and over reads", () => {
    const boundary = new EventBoundary(0);
    const chunk = Buffer.from('5\r\ndata: \r\n7\r\n{"a":"b\r\n');
    boundary.read(chunk, [3, 9, 9, 9, 14, 21], 3);
    assert.equal(boundary.cut().text, '",');
    boundary.read(Buffer.from('"}\n\n'), [0, 4], 1);
    assert.deepEqual(boundary.cut(), { characterEnd: [], text: "", object: "none", hasName: false });
  });
});
