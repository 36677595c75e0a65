/** Messages of a replica as events, and events as messages for a client. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { EventBytes } from "../../../../../plugins/features/websockets/messages/event-bytes.ts";
import { EventFrames } from "../../../../../plugins/features/websockets/messages/event-frames.ts";
import { EventType } from "../../../../../plugins/features/websockets/messages/event-type.ts";
import { pieces } from "../../../../support/pieces.ts";
import { frameBytes, TEXT } from "../../../../support/websocket.ts";

/** What a client gets of these pieces of an event stream. */
function framesOf(parts: readonly Buffer[]): { readonly sent: Buffer; readonly comments: number } {
  const sent: Buffer[] = [];
  let comments = 0;
  const frames = new EventFrames({
    frames(bytes, start, end) {
      sent.push(Buffer.from(bytes.subarray(start, end)));
      return true;
    },
    comment() {
      comments += 1;
      return true;
    },
  });
  for (const part of parts) frames.read(part, 0, part.length);
  assert.equal(frames.isBetween, true);
  return { sent: Buffer.concat(sent), comments };
}

const LENGTHS = [0, 1, 124, 125, 126, 4_096, 65_535, 65_536];

describe("messages on their way", () => {
  it("are what they were, whatever pieces they come in", () => {
    const text = fc.constantFrom(...LENGTHS).map((length) => "ü".repeat(length >> 1) + "x".repeat(length & 1));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 4 }), fc.array(fc.nat(), { maxLength: 8 }), (texts, cuts) => {
        const events = new EventBytes();
        for (const each of texts) {
          events.begin();
          const bytes = Buffer.from(each);
          events.add(bytes, 0, bytes.length);
          events.end();
        }
        const parts = pieces(events.bytes.subarray(0, events.length), cuts);
        assert.ok(framesOf(parts).sent.equals(Buffer.concat(texts.map((each) => frameBytes(TEXT, each, false)))));
      }),
      { numRuns: 60 },
    );
  });

  it("have blanks in place of line ends, which would end the event", () => {
    const events = new EventBytes();
    const bytes = Buffer.from('{\r\n"a":\n1}');
    events.begin();
    events.add(bytes, 0, bytes.length);
    events.end();
    assert.ok(framesOf([events.bytes.subarray(0, events.length)]).sent.equals(frameBytes(TEXT, '{  "a": 1}', false)));
  });

  it("have neither names nor comments, which are counted", () => {
    const stream = Buffer.from(': keep-alive\n\nevent: error\ndata: {"a":1}\n\n: more\n\ndata:x\ndata: y\nid: 1\n\n');
    for (let cut = 0; cut <= stream.length; cut++) {
      const { sent, comments } = framesOf(pieces(stream, [cut]));
      assert.ok(sent.equals(Buffer.concat([frameBytes(TEXT, '{"a":1}', false), frameBytes(TEXT, "x\ny", false)])), `${cut}`);
      assert.equal(comments, 2);
    }
  });

  it("go on in fragments where they are long", () => {
    const long = Buffer.from(`data: ${"x".repeat(600_000)}\n\n`);
    const { sent } = framesOf(pieces(long, [100_000, 200_000, 300_000, 400_000, 500_000]));
    const first = sent.readUInt8(0);
    assert.equal(first, TEXT);
    assert.ok(sent.length > 600_000 && sent.length < 600_050);
  });
});

describe("the type of an event", () => {
  const rows: readonly (readonly [text: string, type: string])[] = [
    ['{"type":"a"}', "a"],
    [' {\n"x" : [1, {"type":"no"}], "type" : "b" }', "b"],
    ['{"x":{"type":"no"},"y":"type","type":"c"}', "c"],
    ['{"x":"\\"type\\":\\"no\\"","type":"d","type":"e"}', "d"],
    ['{"x":"type","y":"no"}', ""],
    ['{"type":{"type":"no"}}', ""],
    ['{"type":null,"x":"no"}', ""],
    ['[{"type":"no"}]', ""],
    ["first", ""],
    ["", ""],
  ];
  for (const [text, type] of rows) {
    it(`is "${type}" in ${text}`, () => {
      const bytes = Buffer.from(text);
      const found = new EventType();
      for (let cut = 0; cut <= bytes.length; cut++) {
        found.reset();
        found.read(bytes, 0, cut);
        found.read(bytes, cut, bytes.length);
        assert.equal(found.value, type);
      }
    });
  }
});
