import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EventStream } from "../../../core/stream/event-stream.ts";

/** The stream after these pieces, each of them a span of a larger chunk. */
function after(openingEvents: number, ...pieces: readonly string[]): EventStream {
  const stream = new EventStream(openingEvents);
  for (const piece of pieces) stream.read(Buffer.from(`5\r\n${piece}\r\n`), [3, 3 + Buffer.byteLength(piece)], 1);
  return stream;
}

describe("events that have ended", () => {
  const cases: readonly (readonly [name: string, text: string, events: number])[] = [
    ["none", "", 0],
    ["one", "data: 1\n\n", 1],
    ["several", "data: 1\n\ndata: 2\n\ndata: [DONE]\n\n", 3],
    ["lines that end with CRLF", "data: 1\r\n\r\ndata: 2\r\n\r\n", 2],
    ["lines that end with CR", "data: 1\r\rdata: 2\r\r:\r\r", 2],
    ["lines that end with CR, behind an empty one", "\rdata: 1\r\r", 1],
    ["events of several lines", "event: a\ndata: 1\n\nevent: b\r\ndata: 2\r\n\r\n", 2],
    ["empty lines between them", "\n\ndata: 1\n\n\n\n\ndata: 2\n\n\n", 2],
    ["comments, which are none", ": wait\n\n:\n\ndata: 1\n: wait\n\n: wait\r\n\r\n", 1],
    ["a line of one byte", "data: 1\nx\ndata: 2\n\n", 1],
    ["a CR within a line", "data: 1\n\ndata: \r2\n\rdata\n\n", 2],
    ["one that begins with a byte order mark", "\ufeffdata: 1\n\n", 1],
    ["one that has not ended", "data: 1\n\ndata: 2\n", 1],
    ["one that is cut in its data", "data: 1\n\ndata: 2", 1],
  ];
  for (const [name, text, events] of cases) {
    it(`${name}, in reads of any size`, () => {
      for (const size of [1, 2, 3, 7, 1000]) {
        const pieces = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
        assert.equal(after(0, ...pieces).ended, events, `reads of ${size}`);
      }
    });
  }
});

describe("where the opening events of a stream end", () => {
  const cases: readonly { readonly name: string; readonly opening: number; readonly before: string; readonly first: string }[] = [
    { name: "at once where there are none", opening: 0, before: "", first: "d" },
    { name: "after one", opening: 1, before: "data: 1\n\n", first: "d" },
    { name: "after two", opening: 2, before: "event: a\ndata: 1\n\nevent: b\ndata: 2\n\n", first: "e" },
    { name: "with CRLF", opening: 2, before: "data: 1\r\n\r\ndata: 2\r\n\r\n", first: "d" },
    { name: "with CR", opening: 2, before: "data: 1\r\rdata: 2\r\r", first: "d" },
    { name: "after comments, where there are none", opening: 0, before: ": ping\n\n:\n\n", first: "d" },
    { name: "with comments between", opening: 2, before: ": a\n\ndata: 1\n: b\n\n: c\n\ndata: 2\n\n: d\n", first: "d" },
    { name: "with extra empty lines", opening: 2, before: "\n\ndata: 1\n\n\n\ndata: 2\n\n", first: "d" },
  ];
  for (const { name, opening, before, first } of cases) {
    it(`${name}, in any pieces`, () => {
      for (let cut = 0; cut <= before.length; cut++) {
        const pieces = [before.slice(0, cut), before.slice(cut)];
        assert.equal(after(opening, ...pieces).isOpeningOver, false, `cut at ${cut}`);
        assert.equal(after(opening, ...pieces, first).isOpeningOver, true, `cut at ${cut}`);
      }
      assert.equal(after(opening, before + first).isOpeningOver, true);
    });
  }

  it("is after the last of them, not before", () => {
    assert.equal(after(2, ..."data: 1\n\ndata: 2\n").isOpeningOver, false);
  });
});

describe("whether a stream is between two events", () => {
  const cases: readonly (readonly [stream: string, isBetween: boolean])[] = [
    ["", true],
    ["data: 1\n\n", true],
    ["data: 1\r\n\r\n", true],
    ["data: 1\r\r", true],
    ["data: 1\n\n\n", true],
    [": comment\n", true],
    ["data: 1\n", false],
    ["data: 1\n: comment\n", false],
    ["data: 1\r\n", false],
    ["data: 1\r\n\r", false],
    ["d", false],
    [":", false],
    ["\ufeff", false],
  ];
  for (const [stream, isBetween] of cases) {
    it(`${JSON.stringify(stream)}: ${isBetween}`, () => {
      assert.equal(after(0, stream).isBetween, isBetween);
      assert.equal(after(0, ...stream).isBetween, isBetween, "byte by byte");
    });
  }
});

describe("where a read last stood between two events", () => {
  const chunk = Buffer.from("data: 1\n\ndata|: 2\n\nda|ta: 3\n|\r\ndata: 4\n");
  const spans = [0, 13, 14, 21, 22, 28];

  it("is told by span and index", () => {
    const stream = new EventStream(0);
    stream.read(chunk, spans, 3);
    assert.deepEqual([stream.wholeSpan, stream.wholeEnd, stream.ended], [1, 19, 2]);
    stream.read(chunk, [29, 39], 1);
    assert.deepEqual([stream.wholeSpan, stream.wholeEnd, stream.ended], [0, 31, 3]);
    stream.read(chunk, [9, 13], 1);
    assert.equal(stream.wholeSpan, -1);
  });
});
