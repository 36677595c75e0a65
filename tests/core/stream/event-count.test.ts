import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EventCount } from "../../../core/stream/event-count.ts";

describe("events that have ended", () => {
  const cases: readonly (readonly [name: string, text: string, events: number])[] = [
    ["none", "", 0],
    ["one", "data: 1\n\n", 1],
    ["several", "data: 1\n\ndata: 2\n\ndata: [DONE]\n\n", 3],
    ["lines that end with CRLF", "data: 1\r\n\r\ndata: 2\r\n\r\n", 2],
    ["events of several lines", "event: a\ndata: 1\n\nevent: b\r\ndata: 2\r\n\r\n", 2],
    ["empty lines between them", "\n\ndata: 1\n\n\n\n\ndata: 2\n\n\n", 2],
    ["one that has not ended", "data: 1\n\ndata: 2\n", 1],
    ["one that is cut in its data", "data: 1\n\ndata: 2", 1],
  ];
  for (const [name, text, events] of cases) {
    it(`${name}, in reads of any size`, () => {
      // The spans lie in a larger chunk, as those of a chunked body do.
      const bytes = Buffer.from(`5\r\n${text}\r\n0\r\n`);
      for (const size of [1, 2, 3, 7, 1000]) {
        const count = new EventCount();
        for (let at = 3; at < 3 + text.length; at += size) count.read(bytes, at, Math.min(3 + text.length, at + size));
        assert.equal(count.ended, events, `reads of ${size}`);
      }
    });
  }
});
