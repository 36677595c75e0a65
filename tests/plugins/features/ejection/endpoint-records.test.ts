import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeEndpoint } from "../../../../core/contract/test-kit.ts";
import { EndpointRecords } from "../../../../plugins/features/ejection/endpoint-records.ts";

const endpoint = makeEndpoint(3);

/** Of an endpoint that has answered once. */
function setUp() {
  const records = new EndpointRecords();
  records.sent(endpoint, false, 0);
  records.wholeResponse(endpoint, 0);
  records.ended(endpoint, false, 0);
  return { records, at: (nowMs: number, workAheadMs = 0) => records.of(endpoint, workAheadMs, nowMs) };
}

describe("failures", () => {
  it("in a row end with a success", () => {
    const { records, at } = setUp();
    records.failed(endpoint, "reset", 0);
    records.failed(endpoint, "status 500", 1);
    assert.deepEqual([at(2).consecutiveFailures, at(2).lastFailure], [2, "status 500"]);
    records.succeeded(endpoint, 10, 3);
    assert.equal(at(4).consecutiveFailures, 0);
    assert.equal(records.served(endpoint).tokens, 10);
  });

  it("are counted for half a minute", () => {
    const { records, at } = setUp();
    for (let i = 0; i < 5; i++) records.failed(endpoint, "reset", 0);
    records.succeeded(endpoint, 0, 20_000);
    assert.deepEqual([at(26_000).recentFailures, at(26_000).recentSuccesses], [5, 1]);
    assert.deepEqual([at(31_000).recentFailures, at(31_000).recentSuccesses], [0, 1]);
    assert.deepEqual([at(600_000).recentFailures, at(600_000).recentSuccesses], [0, 0]);
  });

  it("of another replica in the same slot do not count", () => {
    const { records } = setUp();
    for (let i = 0; i < 5; i++) records.failed(endpoint, "reset", 0);
    const next = { ...endpoint, generation: 1 };
    assert.equal(records.of(next, 0, 1).consecutiveFailures, 0);
    records.failed(endpoint, "reset", 2);
    assert.equal(records.of(next, 0, 3).consecutiveFailures, 1 - 1);
  });

  it("that were the request's own are taken back", () => {
    const { records, at } = setUp();
    records.failed(endpoint, "status 500", 0);
    records.retract(endpoint, 0, 1);
    assert.deepEqual([at(2).consecutiveFailures, at(2).recentFailures], [0, 0]);
  });

  it("are taken back from when they were counted, and not from a run that a success has ended", () => {
    const { records, at } = setUp();
    for (const nowMs of [0, 3_000]) records.failed(endpoint, "status 500", nowMs);
    records.retract(endpoint, 0, 3_500);
    assert.deepEqual([at(3_500).recentFailures, at(3_500).consecutiveFailures], [1, 1]);
    records.succeeded(endpoint, 0, 4_000);
    records.failed(endpoint, "status 500", 5_000);
    records.retract(endpoint, 3_000, 5_500);
    assert.deepEqual([at(5_500).recentFailures, at(5_500).consecutiveFailures], [1, 1]);
    records.retract(endpoint, 0, 60_000);
    assert.equal(at(60_000).recentFailures, 0);
  });
});

describe("silence", () => {
  it("counts while requests are in flight, from the last byte or end", () => {
    const { records, at } = setUp();
    assert.equal(at(1_000).quietMs, 0);
    records.sent(endpoint, true, 1_000);
    assert.equal(at(4_000).quietMs, 3_000);
    records.heard(endpoint, 3_500);
    assert.equal(at(4_000).quietMs, 500);
    records.sent(endpoint, true, 5_000);
    records.ended(endpoint, true, 6_000);
    assert.equal(at(7_000).quietMs, 1_000);
    records.ended(endpoint, true, 8_000);
    assert.equal(at(90_000).quietMs, 0);
  });

  it("does not end when a client leaves", () => {
    const { records, at } = setUp();
    records.sent(endpoint, true, 0);
    records.sent(endpoint, true, 3_000);
    records.abandoned(endpoint, true);
    assert.equal(at(4_000).quietMs, 4_000);
    records.abandoned(endpoint, true);
    assert.equal(at(5_000).quietMs, 0);
    records.sent(endpoint, true, 6_000);
    assert.equal(at(7_000).quietMs, 1_000);
  });

  it("is explained by the work that was ahead when it began, until a byte comes", () => {
    const { records, at } = setUp();
    records.sent(endpoint, true, 0);
    assert.equal(at(1_000, 5_000).explainedQuietMs, 25_000);
    assert.equal(at(6_000, 0).explainedQuietMs, 25_000);
    records.heard(endpoint, 6_000);
    assert.equal(at(6_001, 0).explainedQuietMs, 29_000);
    records.ended(endpoint, true, 7_000);
    records.sent(endpoint, true, 7_000);
    assert.equal(at(7_000, 0).explainedQuietMs, 29_000);
  });

  it("is not explained by work that is sent in the middle of it", () => {
    const { records, at } = setUp();
    records.sent(endpoint, true, 0);
    assert.equal(at(500, 1_000).explainedQuietMs, 9_000);
    records.sent(endpoint, true, 2_000);
    assert.equal(at(2_000, 60_000).explainedQuietMs, 9_000);
  });

  it("is explained by the work of a stream that follows a whole response", () => {
    const { records, at } = setUp();
    records.sent(endpoint, false, 0);
    at(500);
    records.sent(endpoint, true, 10_000);
    assert.equal(at(10_500, 2_000).explainedQuietMs, 10_000 + 5_000 + 8_000);
  });

  it("is explained by the work ahead and by its own history, which is forgotten slowly", () => {
    const { records, at } = setUp();
    records.sent(endpoint, true, 0);
    assert.equal(at(0).explainedQuietMs, 5_000);
    assert.equal(at(0, 1_000).explainedQuietMs, 9_000);
    records.heard(endpoint, 10_000);
    assert.equal(at(10_000).explainedQuietMs, 45_000);
    records.age(300_000);
    assert.equal(at(10_000).explainedQuietMs, 25_000);
  });
});

describe("silence of an endpoint that has never answered", () => {
  const other = makeEndpoint(4);

  function newcomer() {
    const records = new EndpointRecords();
    const answers = (count: number, seenMs = 100, expectedMs = 100) => {
      for (let i = 0; i < count; i++) {
        records.sent(other, true, 0);
        records.firstToken(other, seenMs, expectedMs);
        records.ended(other, true, 0);
      }
    };
    const explained = (workAheadMs = 0) => records.of(endpoint, workAheadMs, 6_000).explainedQuietMs;
    return { records, answers, explained };
  }

  it("may last two minutes, and longer with much work ahead: its first request may have to compile", () => {
    const { records, answers, explained } = newcomer();
    answers(50);
    records.sent(endpoint, true, 0);
    answers(7);
    assert.equal(explained(), 120_000);
    assert.equal(explained(1_000), 124_000);
  });

  it("is measured by the pool once others answer meanwhile", () => {
    const { records, answers, explained } = newcomer();
    records.sent(endpoint, true, 0);
    answers(8);
    assert.equal(explained(), 5_000);
    assert.equal(explained(1_000), 9_000);
  });

  it("may be as long as others waited without a reason", () => {
    const { records, answers, explained } = newcomer();
    records.sent(endpoint, true, 0);
    answers(1, 12_100, 100);
    answers(7);
    assert.equal(explained(), 5_000 + 4 * 12_000);
  });

  it("is judged anew when another process takes the slot", () => {
    const { records, at } = setUp();
    const next = { ...endpoint, generation: endpoint.generation + 1 };
    records.sent(endpoint, true, 0);
    assert.equal(at(1_000).explainedQuietMs, 5_000);
    records.sent(next, true, 1_000);
    assert.equal(records.of(next, 0, 2_000).explainedQuietMs, 120_000);
  });
});

describe("silence while only whole responses are under way", () => {
  it("may last two minutes, since they are silent while they are generated", () => {
    const { records, at } = setUp();
    records.sent(endpoint, false, 0);
    assert.equal(at(6_000).explainedQuietMs, 120_000);
  });

  it("is measured by the longest of many", () => {
    const { records, at } = setUp();
    records.sent(endpoint, false, 0);
    for (let i = 0; i < 50; i++) records.wholeResponse(endpoint, i === 7 ? 2_000 : 100);
    assert.equal(at(6_000).explainedQuietMs, 13_000);
    records.age(3_600_000);
    assert.equal(at(6_000).explainedQuietMs, 120_000);
  });

  it("is no reason against a stream that was sent in the middle of it", () => {
    const { records, at } = setUp();
    records.sent(endpoint, false, 0);
    records.sent(endpoint, true, 60_000);
    const { quietMs, explainedQuietMs } = at(60_500);
    assert.deepEqual([quietMs, explainedQuietMs], [60_500, 65_000]);
    records.ended(endpoint, true, 61_000);
    assert.equal(at(62_000).explainedQuietMs, 120_000);
  });
});

describe("slowness", () => {
  it("is not known before there were enough times", () => {
    const { records, at } = setUp();
    for (let i = 0; i < 7; i++) records.firstToken(endpoint, 1_000, 100);
    assert.ok(Number.isNaN(at(0).slowness));
  });

  it("is the mean of seen over expected", () => {
    const { records, at } = setUp();
    for (let i = 0; i < 20; i++) records.firstToken(endpoint, 1_000, 100);
    assert.ok(Math.abs(at(0).slowness - 10) < 1e-9);
    assert.ok(Math.abs(at(0).excessMs - 900) < 1e-9);
  });

  it("of tiny work is measured against the least that means anything", () => {
    const { records, at } = setUp();
    for (let i = 0; i < 20; i++) records.firstToken(endpoint, 50, 0.1);
    assert.ok(Math.abs(at(0).slowness - 1) < 1e-9);
  });
});
