import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { FrameTrack } from "../../../../core/wire/websocket/frame-track.ts";
import { closeFrame, maskedText, textFrame } from "../../../../core/wire/websocket/frames.ts";
import { IncomingMessages, type MessagesOwner } from "../../../../core/wire/websocket/incoming-messages.ts";
import { pieces } from "../../../support/pieces.ts";
import { closeBytes, frameBytes, PING, TEXT } from "../../../support/websocket.ts";

const LENGTHS = [0, 1, 125, 126, 65_535, 65_536, 70_000];

describe("a frame that is written here", () => {
  for (const length of LENGTHS) {
    it(`is one of ${length} bytes as others write it`, () => {
      const text = "x".repeat(length);
      assert.ok(textFrame(text).equals(frameBytes(TEXT, text, false)));
    });
  }

  it("has a mask for a server, and is whole from parts", () => {
    const message = '{"model":"grüße"}';
    let read = "";
    const owner = {
      text(chunk: Uint8Array, start: number, end: number) {
        read += Buffer.from(chunk.subarray(start, end));
      },
    };
    const bytes = maskedText([Buffer.from(message.slice(0, 5)), Buffer.from(message.slice(5))]);
    assert.equal(bytes.includes("model"), false);
    new IncomingMessages({ ...IGNORED, ...owner }, CLIENT).read(bytes, 0, bytes.length);
    assert.equal(read, message);
  });

  it("has a reason of at most 123 bytes, which ends with a whole character", () => {
    assert.ok(closeFrame(1001, "bye").equals(closeBytes(1001, "bye", false)));
    const frame = closeFrame(1011, "ü".repeat(100));
    assert.equal(frame.length, 2 + 2 + 122);
    assert.equal(frame.toString("utf8", 4), "ü".repeat(61));
  });
});

const CLIENT = { isClient: true, mostControlFrames: 64 };
const IGNORED: MessagesOwner = { begins: () => true, text() {}, complete() {}, pinged() {}, left() {}, broken() {} };

describe("the frames that pass", () => {
  const frame = fc.record({
    opcode: fc.constantFrom(0, TEXT, 2, PING),
    length: fc.constantFrom(...LENGTHS.slice(0, 4)),
    isMasked: fc.boolean(),
  });

  it("are followed whatever pieces they come in", () => {
    fc.assert(
      fc.property(fc.array(frame, { minLength: 1, maxLength: 4 }), fc.array(fc.nat(), { maxLength: 6 }), (frames, cuts) => {
        const parts = frames.map(({ opcode, length, isMasked }) => frameBytes(opcode, Buffer.alloc(length, 0x88), isMasked));
        const ends = new Set(parts.map((_, index) => Buffer.concat(parts.slice(0, index + 1)).length));
        const track = new FrameTrack();
        let at = 0;
        for (const piece of pieces(Buffer.concat(parts), cuts)) {
          track.read(piece, 0, piece.length);
          at += piece.length;
          assert.equal(track.isBetween, at === 0 || ends.has(at));
        }
        assert.equal(track.isClosed, false);
      }),
    );
  });

  it("are closed once a Close has passed whole", () => {
    const track = new FrameTrack();
    for (const byte of closeBytes(1000, "bye", true)) {
      assert.equal(track.isClosed, false);
      track.read(Buffer.of(byte), 0, 1);
    }
    assert.equal(track.isClosed, true);
    const empty = new FrameTrack();
    empty.read(frameBytes(8, "", false), 0, 2);
    assert.equal(empty.isClosed, true);
  });
});

describe("a client's message", () => {
  it("is the same whatever pieces it comes in, and ends where it ends", () => {
    const text = JSON.stringify({ model: "m", text: "x".repeat(300) });
    const whole = [
      frameBytes(TEXT, text.slice(0, 140), true, false),
      frameBytes(PING, "one", true),
      frameBytes(0, text.slice(140, 141), true, false),
      frameBytes(PING, "", true),
      frameBytes(0, text.slice(141), true),
    ];
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 8 }), (cuts) => {
        const said: string[] = [];
        let read = "";
        const owner: MessagesOwner = {
          begins: () => true,
          text(chunk, start, end) {
            read += Buffer.from(chunk.subarray(start, end));
          },
          complete: () => void said.push("complete"),
          pinged: (payload) => void said.push(`ping ${Buffer.from(payload)}`),
          left: () => void said.push("left"),
          broken: (_code, reason) => void said.push(reason),
        };
        const message = new IncomingMessages(owner, CLIENT);
        let rest = 0;
        // It takes the mask off in place, so each run has bytes of its own.
        for (const piece of pieces(Buffer.concat([...whole, Buffer.from("rest")]), cuts))
          rest += piece.length - message.read(piece, 0, piece.length);
        assert.deepEqual([read, said, rest], [text, ["ping one", "ping ", "complete"], 4]);
      }),
    );
  });
});
