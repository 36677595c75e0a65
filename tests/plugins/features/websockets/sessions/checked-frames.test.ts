import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { MemoryBudget } from "../../../../../core/body/memory-budget.ts";
import { systemClock } from "../../../../../core/contract/clock.ts";
import { CheckedFrames } from "../../../../../plugins/features/websockets/sessions/checked-frames.ts";
import { pieces } from "../../../../support/pieces.ts";
import { BINARY, closeBytes, frameBytes, PING, PONG, TEXT } from "../../../../support/websocket.ts";

/** What becomes of these pieces: bytes that pass, and messages that are judged, in their order. */
function read(parts: readonly Buffer[]) {
  const memory = new MemoryBudget(2 ** 20, systemClock);
  const seen: string[] = [];
  let passed: Buffer = Buffer.alloc(0);
  const owner = {
    pass: (chunk: Uint8Array, start: number, end: number) => {
      passed = Buffer.concat([passed, chunk.subarray(start, end)]);
    },
    judge: (message: Uint8Array) => {
      seen.push(Buffer.from(message).toString());
      return true;
    },
    broken: (code: number) => void seen.push(`broken ${code}`),
    failed: ({ code }: { readonly code: string }) => void seen.push(code),
  };
  const frames = new CheckedFrames(owner, { messageBytes: 1_000, memory });
  for (const part of parts) frames.read(part, 0, part.length);
  frames.close();
  assert.equal(memory.bodyBytes, 0);
  return { seen, passed, frames };
}

describe("frames of a client on their way to a replica", () => {
  it("pass as they are, but for texts that may be objects, whatever pieces they come in", () => {
    const passing = [
      frameBytes(PING, "one", true),
      frameBytes(BINARY, "{not a text", true, false),
      frameBytes(PONG, "", true),
      frameBytes(0, "rest", true),
      frameBytes(TEXT, "hello", true),
      frameBytes(TEXT, "", true),
      closeBytes(1000, "bye", true),
    ];
    const judged = [
      [frameBytes(TEXT, '{"a":', true, false), frameBytes(0, "1}", true)],
      [frameBytes(TEXT, "", true, false), frameBytes(0, '{"b":2}', true)],
      [frameBytes(TEXT, ' {"c":3}', true)],
    ];
    const whole = [
      ...[passing[0]!, judged[0]![0]!, passing[0]!, judged[0]![1]!, ...passing.slice(1, 4), ...judged[1]!],
      ...[passing[4]!, ...judged[2]!, passing[5]!, passing[6]!],
    ];
    const wanted = Buffer.concat([passing[0]!, ...passing]);
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 8 }), (cuts) => {
        const { seen, passed, frames } = read(pieces(Buffer.concat(whole), cuts));
        assert.deepEqual(seen, ['{"a":1}', '{"b":2}', ' {"c":3}']);
        assert.ok(passed.equals(wanted));
        assert.equal(frames.isClosed, true);
      }),
    );
  });

  const rows: readonly (readonly [name: string, sent: Buffer, seen: string])[] = [
    ["without a mask", frameBytes(TEXT, "{}", false), "broken 1002"],
    ["with a reserved bit", frameBytes(0x40 | TEXT, "{}", true), "broken 1002"],
    ["that go on before they begin", frameBytes(0, "{}", true), "broken 1002"],
    ["that begin twice", Buffer.concat(Array(2).fill(frameBytes(TEXT, "{", true, false))), "broken 1002"],
    ["of an unknown kind", frameBytes(3, "{}", true), "broken 1002"],
    [
      "that are too long together",
      Buffer.concat([frameBytes(TEXT, "{", true, false), frameBytes(0, " ".repeat(1_000), true)]),
      "body_too_large",
    ],
    ["that say they are too long", frameBytes(TEXT, `{${" ".repeat(1_000)}`, true).subarray(0, 9), "body_too_large"],
  ];
  for (const [name, sent, wanted] of rows) {
    it(`are refused ${name}`, () => {
      const { seen, passed } = read([Buffer.concat([sent, frameBytes(TEXT, "behind", true)])]);
      assert.deepEqual([seen, passed.length], [[wanted], 0]);
    });
  }
});
