import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RetryBudget } from "../../../core/state/retry-budget.ts";

const settings = { budgetShare: 0.2, budgetLeast: 3 };

/** Retries that fit in beside so many requests at one moment. */
function room(requests: number, atMs = 0): number {
  const budget = new RetryBudget(settings);
  for (let i = 0; i < requests; i++) budget.request(atMs);
  let retries = 0;
  for (; budget.hasRoom(atMs); retries++) budget.retry(atMs);
  return retries;
}

describe("the retries that fit in", () => {
  for (const [requests, retries] of [
    [0, 3],
    [10, 3],
    [20, 4],
    [1_000, 200],
  ] as const) {
    it(`${retries} beside ${requests} requests`, () => assert.equal(room(requests), retries));
  }

  it("come back as time passes", () => {
    const budget = new RetryBudget(settings);
    for (let i = 0; i < 3; i++) budget.retry(0);
    assert.equal(budget.hasRoom(9_000), false);
    assert.equal(budget.hasRoom(10_000), true);
  });

  it("are counted anew after a long silence", () => {
    const budget = new RetryBudget(settings);
    for (let i = 0; i < 100; i++) budget.request(0);
    for (let i = 0; i < 20; i++) budget.retry(0);
    assert.equal(budget.hasRoom(0), false);
    assert.equal(budget.hasRoom(3_600_000), true);
  });
});
