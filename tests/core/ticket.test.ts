import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Moments, Ticket } from "../../core/ticket.ts";
import { makeForward } from "../support/forward.ts";
import { jsonAnswer } from "../support/scripted-replica.ts";

const HEAD_AT_MS = 1_000;

describe("a ticket", () => {
  it("has all its fields from the start, whatever happens to its request", () => {
    const fields = Object.keys(new Ticket("id", "POST", HEAD_AT_MS));
    const { parts, upstream, ticket, forward } = makeForward();
    forward.begin(parts.clock.now());
    upstream.send(jsonAnswer("{}"));
    assert.equal(ticket.status, 200);
    assert.deepEqual(Object.keys(ticket), fields);
  });

  it("says nothing of what has not happened", () => {
    const { request, decision, status, attempts, usage, error, overheadUs, firstByteMs, durationMs, outputTokens } = new Ticket(
      "id",
      "POST",
      HEAD_AT_MS,
    );
    assert.deepEqual(
      { request, decision, usage, error },
      { request: undefined, decision: undefined, usage: undefined, error: undefined },
    );
    assert.deepEqual([status, attempts], [0, []]);
    for (const number of [overheadUs, firstByteMs, durationMs, outputTokens]) assert.equal(number, Number.NaN);
  });

  it("counts the first byte and the router's own time from the end of the body, and the whole from the head", () => {
    const ticket = new Ticket("id", "POST", HEAD_AT_MS);
    Object.assign(ticket.times, { bodyEndedAtMs: 1_100, dispatchedAtMs: 1_102, firstByteAtMs: 1_150, endedAtMs: 1_400 });
    assert.deepEqual([ticket.overheadUs, ticket.firstByteMs, ticket.durationMs], [2_000, 50, 400]);
  });
});

describe("moments are read since the head", () => {
  const rows = [
    ["bodyEndedAtMs", "receivedMs"],
    ["admittedAtMs", "admittedMs"],
    ["decidedAtMs", "decidedMs"],
    ["dispatchedAtMs", "dispatchedMs"],
    ["firstByteAtMs", "firstByteMs"],
    ["endedAtMs", "endMs"],
  ] as const;
  for (const [moment, sinceHead] of rows) {
    it(sinceHead, () => {
      const times = new Moments(HEAD_AT_MS);
      assert.equal(times[sinceHead], Number.NaN);
      times[moment] = HEAD_AT_MS + 7;
      assert.equal(times[sinceHead], 7);
      for (const [, other] of rows) if (other !== sinceHead) assert.equal(times[other], Number.NaN);
    });
  }
});
