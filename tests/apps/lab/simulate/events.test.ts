import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { EventQueue } from "../../../../apps/lab/simulate/events.ts";

/** Runs all events up to `endMs` and returns what ran when. */
function log(prepare: (queue: EventQueue, note: (what: string) => void) => void, endMs = 100): readonly string[] {
  const queue = new EventQueue();
  const lines: string[] = [];
  prepare(queue, (what) => lines.push(`${queue.now()} ${what}`));
  for (let isLeft = true; isLeft && queue.now() < endMs; ) isLeft = queue.runNext();
  return lines;
}

describe("simulated time", () => {
  it("jumps to the next event; events at equal times run in the order they were added", () => {
    const lines = log((queue, note) => {
      queue.at(20, () => note("b"));
      queue.at(5, () => note("a"));
      queue.at(20, () => note("c"));
    });
    assert.deepEqual(lines, ["5 a", "20 b", "20 c"]);
  });

  it("many events run by time, those of equal times in the order they were added, also when events add some", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(5), fc.nat(5)), { maxLength: 60 }), (times) => {
        const ran: { atMs: number; added: number }[] = [];
        let added = 0;
        log((queue) => {
          const add = (atMs: number, laterMs: number) => {
            const event = { atMs, added: added++ };
            queue.at(atMs, () => {
              ran.push(event);
              if (laterMs > 0) add(atMs + laterMs, 0);
            });
          };
          for (const [atMs, laterMs] of times) add(atMs, laterMs);
        });
        assert.equal(ran.length, added);
        assert.deepEqual(
          ran,
          [...ran].sort((a, b) => a.atMs - b.atMs || a.added - b.added),
        );
      }),
    );
  });

  it("an event in the past runs now", () => {
    assert.deepEqual(
      log((queue, note) => queue.at(9, () => queue.at(3, () => note("late")))),
      ["9 late"],
    );
  });

  it("timers fire once or repeatedly and can be cancelled", () => {
    const lines = log((queue, note) => {
      queue.after(7, () => note("once"));
      queue.after(8, () => note("never"))();
      const stop = queue.every(10, () => {
        note("tick");
        if (queue.now() >= 30) stop();
      });
    });
    assert.deepEqual(lines, ["7 once", "10 tick", "20 tick", "30 tick"]);
  });

  it("a timer with period 0 does not stop time", () => {
    const lines = log((queue, note) => void queue.every(0, () => note("tick")), 3);
    assert.deepEqual(lines, ["1 tick", "2 tick", "3 tick"]);
  });

  it("the wall clock advances too", () => {
    const queue = new EventQueue();
    const before = queue.wall();
    queue.at(1234, () => {});
    queue.runNext();
    assert.equal(queue.wall() - before, 1234);
    assert.equal(queue.runNext(), false);
  });
});
