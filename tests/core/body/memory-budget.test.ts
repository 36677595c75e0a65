import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { MemoryBudget, type Upload } from "../../../core/body/memory-budget.ts";
import { BodyBuffer } from "../../../core/body/receive.ts";
import { idleStorageBytes, returnStorage, takeStorage, trimStorage } from "../../../core/body/storage-pool.ts";
import type { RouterError } from "../../../core/contract/errors.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const KIB = 1024;
const PERIOD_MS = 1_000;
const OVERLOADED = { code: "overloaded", status: 503, retryAfterS: 1 };

/** An upload that gives back what it holds when it is cut. */
class TestUpload implements Upload {
  length = 0;
  heldBytes = 0;
  error: RouterError | undefined;
  readonly #memory: MemoryBudget;

  constructor(memory: MemoryBudget, heldBytes: number) {
    this.#memory = memory;
    memory.arriving(this);
    memory.take(this, heldBytes);
    this.heldBytes = heldBytes;
  }

  cut(error: RouterError): void {
    this.error = error;
    this.#memory.arrived(this);
    this.#memory.give(this.heldBytes);
  }
}

interface Row {
  readonly name: string;
  /** For each upload that is under way: KiB that it holds, and that came in the last period. */
  readonly uploads: readonly (readonly [held: number, progress: number])[];
  readonly unread?: number;
  /** What a new body asks for, in KiB, with a budget of 1000. */
  readonly asks: number;
  /** Which uploads are cut for it; undefined if it is refused. */
  readonly cut: readonly number[] | undefined;
}

const rows: readonly Row[] = [
  { name: "nothing else: as much as there is", uploads: [], asks: 1000, cut: [] },
  { name: "nothing else: not more", uploads: [], asks: 1001, cut: undefined },
  { name: "beside others with room", uploads: [[600, 100]], asks: 400, cut: [] },
  { name: "others that are quick are not cut", uploads: [[600, 100]], asks: 401, cut: undefined },
  { name: "a stalled one is", uploads: [[600, 0]], asks: 401, cut: [0] },
  {
    name: "the slowest first",
    uploads: [
      [300, 20],
      [300, 0],
      [300, 10],
    ].map(([a, b]) => [a!, b!] as const),
    asks: 700,
    cut: [1, 2],
  },
  {
    name: "none in vain",
    uploads: [
      [300, 0],
      [600, 100],
    ],
    asks: 500,
    cut: undefined,
  },
  { name: "unread responses count", uploads: [[300, 100]], unread: 500, asks: 300, cut: undefined },
  { name: "and room is made for them", uploads: [[300, 0]], unread: 500, asks: 300, cut: [0] },
];

describe("a new body", () => {
  for (const { name, uploads, unread = 0, asks, cut } of rows) {
    for (const how of ["announced", "take"] as const) {
      it(`${name} (${how})`, async () => {
        const clock = new FakeClock();
        const memory = new MemoryBudget(1000 * KIB, clock);
        const others = uploads.map(([held]) => new TestUpload(memory, held * KIB));
        await clock.advance(2 * PERIOD_MS);
        for (const [i, [, progress]] of uploads.entries()) others[i]!.length += progress * KIB;
        memory.unreadBytes = unread * KIB;
        const ask = () => (how === "announced" ? memory.announced(asks * KIB) : void new TestUpload(memory, asks * KIB));
        if (cut === undefined) assert.throws(ask, OVERLOADED);
        else ask();
        assert.deepEqual(
          others.flatMap(({ error }, i) => (error === undefined ? [] : [i])),
          cut?.toSorted() ?? [],
        );
        for (const { error } of others) if (error !== undefined) assert.equal(error.code, "overloaded");
        assert.equal(memory.refusals, cut === undefined ? 1 : cut.length);
        memory.close();
        assert.equal(clock.pending, 0);
      });
    }
  }
});

test("an upload is not cut before it had a period's time", async () => {
  const clock = new FakeClock();
  const memory = new MemoryBudget(100 * KIB, clock);
  const upload = new TestUpload(memory, 100 * KIB);
  await clock.advance(PERIOD_MS);
  assert.throws(() => memory.announced(7 * KIB), OVERLOADED);
  await clock.advance(PERIOD_MS);
  memory.announced(7 * KIB);
  assert.equal(upload.error?.code, "overloaded");
  assert.equal(memory.bodyBytes, 0);
});

test("a small body is let in beside large ones that are too young to be cut, but not any number of them", () => {
  const memory = new MemoryBudget(1600 * KIB, new FakeClock());
  new TestUpload(memory, 1600 * KIB);
  const small = new TestUpload(memory, 64 * KIB);
  new TestUpload(memory, 36 * KIB);
  assert.throws(() => memory.announced(1), OVERLOADED);
  assert.throws(() => memory.take(small, 1), OVERLOADED);
  memory.close();
});

test("a large body is not", () => {
  const memory = new MemoryBudget(1600 * KIB, new FakeClock());
  const large = new TestUpload(memory, 1600 * KIB);
  assert.throws(() => memory.announced(65 * KIB), OVERLOADED);
  assert.throws(() => memory.take(large, 1), OVERLOADED);
  memory.close();
});

test("an upload that grows is refused before quicker ones, and cuts slower ones", async () => {
  const clock = new FakeClock();
  const memory = new MemoryBudget(300, clock);
  const [slow, middle, quick] = [10, 20, 30].map(() => new TestUpload(memory, 100));
  await clock.advance(2 * PERIOD_MS);
  slow!.length = 10;
  middle!.length = 20;
  quick!.length = 30;
  assert.throws(() => memory.take(slow!, 50), OVERLOADED);
  memory.take(middle!, 50);
  assert.equal(slow!.error?.code, "overloaded");
  assert.equal(quick!.error, undefined);
  assert.equal(memory.bodyBytes, 250);
});

test("nothing is timed while no body is on its way", async () => {
  const clock = new FakeClock();
  const memory = new MemoryBudget(300, clock);
  assert.equal(clock.pending, 0);
  const upload = new TestUpload(memory, 100);
  assert.equal(clock.pending, 1);
  memory.arrived(upload);
  await clock.advance(PERIOD_MS);
  assert.equal(clock.pending, 0);
});

describe("idle buffers", () => {
  const MIB = 1024 * KIB;
  const keepIdle = (sizes: readonly number[]) => {
    trimStorage(0);
    for (const storage of sizes.map((size) => takeStorage(size))) returnStorage(storage);
  };
  const steps: Record<string, (memory: MemoryBudget) => void> = {
    "a body": (memory) => void new TestUpload(memory, 5 * MIB),
    "unread responses": (memory) => {
      memory.unreadBytes = 5 * MIB;
    },
  };
  for (const [what, step] of Object.entries(steps)) {
    test(`are given back, the largest first, when ${what} leave no room for them`, () => {
      keepIdle([64 * KIB, MIB, 4 * MIB]);
      assert.equal(idleStorageBytes(), 5 * MIB + 64 * KIB);
      const memory = new MemoryBudget(7 * MIB, new FakeClock());
      step(memory);
      assert.equal(idleStorageBytes(), MIB + 64 * KIB);
      memory.unreadBytes += 2 * MIB;
      assert.equal(idleStorageBytes(), 0);
      memory.unreadBytes = 0;
      memory.close();
    });
  }

  test("stay while there is room", () => {
    keepIdle([64 * KIB, MIB]);
    new TestUpload(new MemoryBudget(7 * MIB, new FakeClock()), 5 * MIB);
    assert.equal(idleStorageBytes(), MIB + 64 * KIB);
  });

  test("of an ended body stay, and are used by the next one", () => {
    keepIdle([]);
    const memory = new MemoryBudget(2 * MIB, new FakeClock());
    const receive = () => {
      const buffer = new BodyBuffer(MIB, 2 * MIB, memory, { failed() {} });
      buffer.append(new Uint8Array(MIB), 0, MIB);
      return buffer;
    };
    receive().release();
    assert.equal(idleStorageBytes(), MIB);
    const second = receive();
    assert.equal(idleStorageBytes(), 0);
    second.release();
    memory.close();
  });
});

describe("what a body counts for", () => {
  const MIB = 1024 * KIB;
  const cases: Record<string, { declared: number; length: number; held: number }> = {
    "a small one, its buffer": { declared: 900, length: 900, held: 4 * KIB },
    "a part of a small one, too": { declared: 900, length: 1, held: 4 * KIB },
    "an announced one, its first buffer": { declared: 32 * MIB, length: 10, held: MIB },
    "a large one, what it has filled, and a step more": { declared: 32 * MIB, length: 9 * MIB, held: 10 * MIB },
    "a whole one, its length": { declared: 32 * MIB, length: 32 * MIB, held: 32 * MIB },
    "a large one of unknown length, the same": { declared: -1, length: 9 * MIB, held: 10 * MIB },
  };
  for (const [name, { declared, length, held }] of Object.entries(cases)) {
    test(name, () => {
      const memory = new MemoryBudget(64 * MIB, new FakeClock());
      const buffer = new BodyBuffer(declared, 64 * MIB, memory, { failed() {} });
      const piece = new Uint8Array(Math.min(length, MIB));
      for (let at = 0; at < length; at += piece.length) buffer.append(piece, 0, piece.length);
      assert.equal(memory.bodyBytes, held);
      assert.equal(buffer.heldBytes, held);
      buffer.release();
      assert.equal(memory.bodyBytes, 0);
      buffer.release();
      buffer.abandon();
      assert.equal(memory.bodyBytes, 0, "once");
    });
  }

  test("a body larger than the whole budget is too large", () => {
    const memory = new MemoryBudget(100, new FakeClock());
    assert.throws(() => new BodyBuffer(101, 1000, memory, { failed() {} }), { code: "body_too_large" });
  });
});
