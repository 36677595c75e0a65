import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { eventReader } from "../../../../apps/cli/admin/follow-events.ts";
import { readEventSource } from "../../../support/event-source.ts";

function read(text: string, pieceBytes: number) {
  const events: { type: string; data: string }[] = [];
  const push = eventReader((type, data) => events.push({ type, data }));
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) push(bytes.subarray(at, at + pieceBytes));
  return events;
}

describe("events are read as the standard says, in pieces of any size", () => {
  const streams: readonly (readonly [name: string, text: string])[] = [
    ["one", "data: a\n\n"],
    ["with a name, a comment and other fields", ": hi\n\nretry: 5\nevent: dropped\ndata: 1\nid: 7\n\ndata: b\n\n"],
    ["several lines", "data: a\ndata: b\ndata:\n\n"],
    ["CRLF", "event: x\r\ndata: a\r\n\r\n"],
    ["without a space, with two", "data:a\n\ndata:  b\n\n"],
    ["a field without a colon", "data\n\nevent\ndata: a\n\n"],
    ["more than ASCII", "data: é漢😀\n\n"],
    ["a colon in the data", 'data: {"a":"b: c"}\n\n'],
    ["one that is not ended", "data: a\n\ndata: b\n"],
    ["a name without data", "event: x\n\ndata: a\n\n"],
  ];
  for (const [name, text] of streams) {
    it(name, () => {
      for (const pieceBytes of [1, 2, 3, 7, 1000]) assert.deepEqual(read(text, pieceBytes), readEventSource(Buffer.from(text)));
    });
  }

  it("but not one that never ends", () => {
    const push = eventReader(() => {});
    const line = Buffer.from(`data: ${"x".repeat(1024 * 1024)}`);
    assert.throws(() => {
      for (let i = 0; i < 6; i++) push(line);
    }, /longer than any/);
    const pushLines = eventReader(() => {});
    assert.throws(() => {
      for (let i = 0; i < 6; i++) pushLines(Buffer.concat([line, Buffer.from("\n")]));
    }, /longer than any/);
  });
});
