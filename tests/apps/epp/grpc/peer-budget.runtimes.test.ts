import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Allowance } from "../../../../apps/epp/grpc/allowance.ts";
import { PeerBudget } from "../../../../apps/epp/grpc/peer-budget.ts";

describe("an allowance", () => {
  it("is spent, renewed with time up to what it was, and earned", () => {
    let nowMs = 0;
    const allowance = new Allowance(10, 2, () => nowMs);
    const taken = () => {
      let count = 0;
      while (count < 100 && allowance.take()) count += 1;
      return count;
    };
    assert.equal(taken(), 10);
    assert.equal(taken(), 0);
    nowMs = 1_500;
    assert.equal(taken(), 3);
    nowMs = 3_600_000;
    assert.equal(taken(), 10);
    allowance.earn(4);
    assert.equal(taken(), 4);
    assert.equal(allowance.take(11), false);
  });
});

describe("what a peer may have done for nothing", () => {
  const frozen = () => new PeerBudget(() => 0);
  /** How often it can be done in a second that does not pass. */
  const times = (once: () => void) => {
    for (let count = 0; ; count++) {
      try {
        once();
      } catch {
        return count;
      }
    }
  };

  it("frames without data are bounded; a look at thousands of streams costs hundreds of them", () => {
    const [frames, walks] = [frozen(), frozen()];
    const count = times(() => frames.frame());
    assert.ok(count >= 1_000 && count <= 100_000, String(count));
    const walked = times(() => walks.walk(16_000));
    assert.ok(walked * 100 < count, String(walked));
  });

  it("a connection in use never spends it: a window of the stream, one of the connection and a PING for each piece", () => {
    const budget = frozen();
    for (let i = 0; i < 50_000; i++) {
      budget.sentPiece();
      for (let frame = 0; frame < 3; frame++) budget.frame();
    }
  });

  it("as many streams may be given up as are served, however many those are; more of them only so many", () => {
    const budget = frozen();
    for (let i = 0; i < 50_000; i++) {
      budget.served();
      assert.equal(budget.wasted(), true);
    }
    let more = 0;
    while (more < 100_000 && budget.wasted()) more += 1;
    assert.ok(more >= 100 && more < 10_000, String(more));
  });
});
