import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { writeRequest } from "../../../core/wire/scratch.ts";
import { asSocket, FakeSocket } from "../../support/fake-socket.ts";

const ROOM = 64;
const FULL = 0x2e;

/** A body with so many bytes before and behind it in the same memory. */
function bodyOf(text: string): { readonly memory: Buffer; readonly body: Buffer } {
  const memory = Buffer.alloc(2 * ROOM + text.length, FULL);
  memory.write(text, ROOM, "latin1");
  return { memory, body: memory.subarray(ROOM, ROOM + text.length) };
}

function written(head: string, body: readonly Uint8Array[], headRoom?: number): string {
  const socket = new FakeSocket();
  writeRequest(asSocket(socket), head, body, headRoom);
  return socket.takeWritten().toString("latin1");
}

describe("a head and its body are written", () => {
  const cases: Record<string, { head: string; headRoom?: number }> = {
    "without room": { head: "GET /\r\n\r\n" },
    "with room": { head: "GET /\r\n\r\n", headRoom: ROOM },
    "with a head that fills the room": { head: "x".repeat(ROOM), headRoom: ROOM },
    "with a head of one byte more": { head: "x".repeat(ROOM + 1), headRoom: ROOM },
    "with a head that is not ASCII": { head: "é".repeat(ROOM), headRoom: ROOM },
    "with an empty head": { head: "", headRoom: ROOM },
  };
  for (const [name, { head, headRoom }] of Object.entries(cases)) {
    test(name, () => {
      const { memory, body } = bodyOf("the body");
      assert.equal(written(head, [body], headRoom), `${head}the body`);
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
