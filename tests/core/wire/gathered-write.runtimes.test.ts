import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { writeRequest } from "../../../core/wire/gathered-write.ts";
import { asSocket, FakeSocket } from "../../support/fake-socket.ts";

const ROOM = 64;
const FULL = 0x2e;

/** A body with so many bytes before and behind it in the same memory. */
function bodyOf(text: string): { readonly memory: Buffer; readonly body: Buffer } {
  const memory = Buffer.alloc(2 * ROOM + text.length, FULL);
  memory.write(text, ROOM, "latin1");
  return { memory, body: memory.subarray(ROOM, ROOM + text.length) };
}

function written(head: string, body: readonly Uint8Array[], frontBytes?: number): string {
  const socket = new FakeSocket();
  writeRequest(asSocket(socket), head, body, frontBytes);
  return socket.takeWritten().toString("latin1");
}

describe("a head and its body are written", () => {
  const cases: Record<string, { head: string; frontBytes?: number }> = {
    "without room": { head: "GET /\r\n\r\n" },
    "with room": { head: "GET /\r\n\r\n", frontBytes: ROOM },
    "with a head that fills the room": { head: "x".repeat(ROOM), frontBytes: ROOM },
    "with a head of one byte more": { head: "x".repeat(ROOM + 1), frontBytes: ROOM },
    "with a head that is not ASCII": { head: "é".repeat(ROOM), frontBytes: ROOM },
    "with an empty head": { head: "", frontBytes: ROOM },
  };
  for (const [name, { head, frontBytes }] of Object.entries(cases)) {
    test(name, () => {
      const { memory, body } = bodyOf("the body");
      assert.equal(written(head, [body], frontBytes), `${head}the body`);
      assert.equal(body.toString("latin1"), "the body");
      assert.equal(memory.toString("latin1", ROOM + body.length), ".".repeat(ROOM), "what is behind it stays");
    });
  }
});

test("a body of several parts leaves the memory in front of it alone", () => {
  const { memory, body } = bodyOf("the body");
  assert.equal(written("HEAD ", [body, Buffer.from("!")], ROOM), "HEAD the body!");
  assert.equal(memory.toString("latin1", 0, ROOM), ".".repeat(ROOM));
});
