import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { BodyBuffer } from "../../../core/body/receive.ts";
import { makeBodyBuffer } from "../../support/body-memory.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const bytesOf = (length: number): Uint8Array => Uint8Array.from({ length }, (_, n) => n % 251);

/** Feeds a body in chunks that lie inside larger buffers. */
function receive(body: Uint8Array, declared: number, chunkBytes: number, maxBytes = 64 * MIB): BodyBuffer {
  const buffer = makeBodyBuffer(declared, maxBytes);
  for (let at = 0; at < body.length; at += chunkBytes) {
    const part = body.subarray(at, at + chunkBytes);
    const chunk = new Uint8Array(part.length + 7);
    chunk.set(part, 3);
    buffer.append(chunk, 3, 3 + part.length);
  }
  return buffer;
}

describe("a body is gathered", () => {
  const sizes = [0, 1, 5, 1000, 65_536, 200_000];
  for (const size of sizes) {
    for (const chunkBytes of [1, 7, 4096, 65_536, 300_000].filter((bytes) => size / bytes < 2000)) {
      test(`${size} bytes in chunks of ${chunkBytes}`, () => {
        const body = bytesOf(size);
        for (const declared of [size, -1]) {
          const buffer = receive(body, declared, chunkBytes);
          assert.equal(buffer.length, size);
          assert.ok(Buffer.from(buffer.bytes).equals(body));
        }
      });
    }
  }
});

test("chunks are copied: their memory may be used again at once", () => {
  const chunk = bytesOf(100);
  for (const declared of [60, -1]) {
    const buffer = makeBodyBuffer(declared, 1000);
    buffer.append(chunk, 20, 80);
    chunk.fill(0);
    assert.deepEqual(Uint8Array.from(buffer.bytes), bytesOf(100).subarray(20, 80));
    chunk.set(bytesOf(100));
  }
});

test("empty chunks change nothing", () => {
  const buffer = makeBodyBuffer(-1, 10);
  buffer.append(bytesOf(4), 2, 2);
  assert.equal(buffer.length, 0);
  buffer.append(bytesOf(4), 0, 4);
  buffer.append(bytesOf(4), 1, 1);
  assert.deepEqual(buffer.bytes, bytesOf(4));
});

describe("memory", () => {
  const piece = bytesOf(1000);
  const capacityAfter = (declared: number, appends: number): number => {
    const buffer = makeBodyBuffer(declared, 64 * MIB);
    for (let n = 0; n < appends; n++) buffer.append(piece, 0, piece.length);
    return buffer.storage.length;
  };
  const cases: Record<string, { declared: number; appends: number; capacity: number }> = {
    "a declared length is allocated at once": { declared: 500_000, appends: 2, capacity: 512 * KIB },
    "a huge declared length is not": { declared: 32 * MIB, appends: 2, capacity: MIB },
    "it grows as the bytes come": { declared: 32 * MIB, appends: 1049, capacity: 4 * MIB },
    "but not beyond the next size": { declared: 1_500_000, appends: 1049, capacity: 2 * MIB },
    "a small declared length takes little": { declared: 900, appends: 0, capacity: 0 },
    "and no less than the smallest size": { declared: 1000, appends: 1, capacity: 4 * KIB },
    "an undeclared length begins small": { declared: -1, appends: 5, capacity: 16 * KIB },
    "and grows by powers of two": { declared: -1, appends: 66, capacity: 256 * KIB },
    "more than the largest size is what was declared": { declared: 9_000_000, appends: 5000, capacity: 9_000_000 },
    "or, undeclared, some tens of megabytes": { declared: -1, appends: 5000, capacity: 33 * MIB },
  };
  for (const [name, { declared, appends, capacity }] of Object.entries(cases)) {
    test(name, () => assert.equal(capacityAfter(declared, appends), capacity));
  }

  test("a released buffer is used for the next body", () => {
    const first = receive(bytesOf(100_000), 100_000, 30_000);
    const { storage } = first;
    first.release();
    assert.equal(first.length, 0);
    const next = receive(bytesOf(90_000), 90_000, 30_000);
    assert.equal(next.storage, storage);
    assert.ok(Buffer.from(next.bytes).equals(bytesOf(90_000)));
  });

  for (const isCopyFirst of [true, false]) {
    test(`a buffer that a copy holds is given up behind the last reader (${isCopyFirst ? "the request" : "the copy"})`, () => {
      const body = receive(bytesOf(100_000), 100_000, 30_000);
      const { storage } = body;
      const hold = body.hold();
      const leave = [() => body.release(), () => hold.giveBack(true)];
      if (isCopyFirst) leave.reverse();
      leave[0]!();
      assert.ok(Buffer.from(body.bytes).equals(bytesOf(100_000)));
      assert.notEqual(receive(bytesOf(90_000), 90_000, 30_000).storage, storage);
      leave[1]!();
      hold.giveBack(true);
      body.release();
      assert.equal(body.heldBytes, 0);
      assert.equal(receive(bytesOf(90_000), 90_000, 30_000).storage, storage);
    });
  }

  test("a buffer that a copy's socket may still write is not used again", () => {
    const body = receive(bytesOf(100_000), 100_000, 30_000);
    const { storage } = body;
    const hold = body.hold();
    body.release();
    hold.giveBack(false);
    assert.equal(body.heldBytes, 0);
    assert.notEqual(receive(bytesOf(90_000), 90_000, 30_000).storage, storage);
  });

  test("buffers are aligned to a word", () => {
    const buffer = receive(bytesOf(5000), 5000, 999);
    assert.equal(buffer.storage.byteOffset % 4, 0);
  });
});

describe("the limit", () => {
  const tooLarge = { code: "body_too_large", message: "The body is larger than the limit of 100 bytes; send a shorter one." };
  test("a declared length over it", () => assert.throws(() => makeBodyBuffer(101, 100), tooLarge));
  test("a declared length at it", () => assert.equal(receive(bytesOf(100), 100, 30, 100).length, 100));
  test("one chunk over it", () => assert.throws(() => receive(bytesOf(101), -1, 200, 100), tooLarge));
  test("many chunks over it", () => assert.throws(() => receive(bytesOf(101), -1, 10, 100), tooLarge));
});
