import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { PrefillQueue, type PrefillWork } from "../../../core/state/prefill-queue.ts";
import type { ReplicaSpeed } from "../../../core/state/replica-speeds.ts";

const streamed = (tokens: number): PrefillWork => ({ tokens, hasFirstByte: true });
const whole = (tokens: number): PrefillWork => ({ tokens, hasFirstByte: false });

/** A queue of a replica that computes ten tokens in a millisecond. */
const makeQueue = () => new PrefillQueue({ rateAt: () => 10 } as unknown as ReplicaSpeed);

describe("what remains of the prompts sent to an endpoint", () => {
  const rows: readonly { name: string; sent: readonly [atMs: number, PrefillWork][]; atMs: number; remaining: number }[] = [
    { name: "nothing sent", sent: [], atMs: 100, remaining: 0 },
    { name: "one, at once", sent: [[0, streamed(1000)]], atMs: 0, remaining: 1000 },
    { name: "one, half done", sent: [[0, streamed(1000)]], atMs: 50, remaining: 500 },
    { name: "one that takes longer than estimated", sent: [[0, streamed(1000)]], atMs: 500, remaining: 0 },
    {
      name: "the second waits for the first",
      sent: [
        [0, streamed(1000)],
        [10, streamed(300)],
      ],
      atMs: 50,
      remaining: 800,
    },
    {
      name: "and does not begin before the first byte of the first",
      sent: [
        [0, streamed(1000)],
        [10, streamed(300)],
      ],
      atMs: 900,
      remaining: 300,
    },
    {
      name: "after a response that comes whole, only time counts",
      sent: [
        [0, whole(1000)],
        [10, streamed(300)],
      ],
      atMs: 120,
      remaining: 100,
    },
    {
      name: "responses that come whole count as processed after their time",
      sent: [
        [0, whole(1000)],
        [0, whole(500)],
      ],
      atMs: 150,
      remaining: 0,
    },
  ];
  for (const { name, sent, atMs, remaining } of rows) {
    test(name, () => {
      const queue = makeQueue();
      for (const [sentMs, work] of sent) queue.add(work, sentMs);
      assert.equal(queue.remaining(atMs), remaining);
    });
  }

  test("after a first byte the next prompt is the first in the queue", () => {
    const queue = makeQueue();
    const [first, second] = [streamed(1000), streamed(300)];
    queue.add(first, 0);
    queue.add(second, 0);
    queue.remove(first, 200, true);
    assert.equal(queue.remaining(200), 300);
    queue.remove(second, 210, true);
    assert.equal(queue.remaining(300), 0);
  });

  const fronts: readonly (readonly [name: string, front: PrefillWork, isWorkedOff: boolean, tookMs: number])[] = [
    ["a first byte", streamed(1000), true, 50],
    ["a failure, or a client that left", streamed(1000), false, 50],
    ["a response that came whole: nobody knows when its prompt was processed", whole(9000), true, 450],
  ];
  for (const [name, front, isWorkedOff, tookMs] of fronts) {
    test(`a prompt's time begins when the one before it ended: ${name}`, () => {
      const queue = makeQueue();
      const next = streamed(300);
      queue.add(front, 0);
      queue.add(next, 0);
      queue.remove(front, 400, isWorkedOff);
      assert.equal(queue.remove(next, 450, true), tookMs);
    });
  }

  test("a request that ends behind the front takes no time from the one at the front", () => {
    const queue = makeQueue();
    const [front, behind] = [streamed(1000), streamed(300)];
    queue.add(front, 0);
    queue.add(behind, 0);
    queue.remove(behind, 80, false);
    assert.equal(queue.remove(front, 100, true), 100);
  });

  test("prompts wait until their first byte, or until their time is over for responses that come whole", () => {
    const queue = makeQueue();
    const first = streamed(1000);
    queue.add(first, 0);
    queue.add(whole(500), 0);
    assert.equal(queue.waiting(900), 2);
    queue.remove(first, 900, true);
    assert.equal(queue.waiting(940), 1);
    assert.equal(queue.waiting(990), 0);
  });

  test("a prompt that ended without a response does not count", () => {
    const queue = makeQueue();
    const work = streamed(5000);
    queue.add(work, 0);
    assert.equal(queue.remove(work, 1, false), Number.NaN);
    assert.equal(queue.remaining(1), 0);
  });
});

describe("a prompt has begun", () => {
  const first = streamed(1000);
  const second = streamed(300);
  const queue = makeQueue();
  queue.add(first, 0);
  queue.add(second, 0);
  test("when it is the first, and when it is gone", () => {
    assert.deepEqual([queue.hasBegun(first, 500), queue.hasBegun(second, 500)], [true, false]);
    queue.remove(first, 500, true);
    assert.deepEqual([queue.hasBegun(first, 500), queue.hasBegun(second, 500)], [true, true]);
  });
  test("when those before it, which come whole, have had their time", () => {
    const after = makeQueue();
    const one = streamed(100);
    after.add(whole(1000), 0);
    after.add(one, 0);
    assert.deepEqual([after.hasBegun(one, 50), after.hasBegun(one, 150)], [false, true]);
  });
});

describe("what a prompt took", () => {
  test("the time since the first byte before it, or since the queue was empty", () => {
    const queue = makeQueue();
    const [first, second, third] = [streamed(1000), streamed(500), streamed(10)];
    queue.add(first, 100);
    queue.add(second, 150);
    assert.equal(queue.remove(first, 220, true), 120);
    assert.equal(queue.remove(second, 300, true), 80);
    queue.add(third, 5000);
    assert.equal(queue.remove(third, 5007, true), 7);
  });

  test("nothing, for the second of two with their first byte at the same moment", () => {
    const queue = makeQueue();
    const [first, second] = [streamed(1000), streamed(500)];
    queue.add(first, 0);
    queue.add(second, 0);
    assert.equal(queue.remove(first, 150, true), 150);
    assert.equal(queue.remove(second, 150, true), 0);
  });

  test("unknown for a response that comes whole, and for a prompt that is not in the queue", () => {
    const queue = makeQueue();
    const work = whole(1000);
    queue.add(work, 0);
    assert.equal(queue.remove(work, 50, true), Number.NaN);
    assert.equal(queue.remove(work, 60, true), Number.NaN);
  });
});

test("in any order, what remains is never negative, and is 0 for an empty queue", () => {
  const step = fc.record({
    id: fc.nat(8),
    tokens: fc.nat(50_000),
    afterMs: fc.nat(500),
    isStream: fc.boolean(),
    isWorkedOff: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const queue = makeQueue();
      const under = new Map<number, PrefillWork>();
      let nowMs = 0;
      for (const { id, tokens, afterMs, isStream, isWorkedOff } of steps) {
        nowMs += afterMs;
        const work = under.get(id);
        if (work === undefined) {
          const added = isStream ? streamed(tokens) : whole(tokens);
          under.set(id, added);
          queue.add(added, nowMs);
        } else {
          under.delete(id);
          queue.remove(work, nowMs, isWorkedOff);
        }
        assert.ok(queue.remaining(nowMs) >= 0);
      }
      for (const work of under.values()) queue.remove(work, nowMs, true);
      assert.equal(queue.remaining(nowMs), 0);
    }),
  );
});
