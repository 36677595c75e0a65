import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeEndpoint } from "../../../core/contract/test-kit.ts";
import { EndpointRecords } from "../../../core/state/endpoint-records.ts";

const endpoint = makeEndpoint(3);

function setUp() {
  const records = new EndpointRecords();
  records.sent(endpoint, 0);
  records.ended(endpoint, 0);
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
    assert.equal(records.servedTokens(endpoint), 10);
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
    records.retract(endpoint, 1);
    assert.deepEqual([at(2).consecutiveFailures, at(2).recentFailures], [0, 0]);
  });
});

describe("silence", () => {
  it("counts while requests are in flight, from the last byte or end", () => {
    const { records, at } = setUp();
    assert.equal(at(1_000).quietMs, 0);
    records.sent(endpoint, 1_000);
    assert.equal(at(4_000).quietMs, 3_000);
    records.heard(endpoint, 3_500);
    assert.equal(at(4_000).quietMs, 500);
    records.sent(endpoint, 5_000);
    records.ended(endpoint, 6_000);
    assert.equal(at(7_000).quietMs, 1_000);
    records.ended(endpoint, 8_000);
    assert.equal(at(90_000).quietMs, 0);
  });

  it("is explained by the work that was ahead when it began, until a byte comes", () => {
    const { records, at } = setUp();
    records.sent(endpoint, 0);
    assert.equal(at(1_000, 5_000).explainedQuietMs, 25_000);
    assert.equal(at(6_000, 0).explainedQuietMs, 25_000);
    records.heard(endpoint, 6_000);
    assert.equal(at(6_001, 0).explainedQuietMs, 29_000);
    records.ended(endpoint, 7_000);
    assert.equal(at(7_000, 0).explainedQuietMs, 29_000);
  });

  it("is explained by the work ahead and by its own history, which is forgotten slowly", () => {
    const { records, at } = setUp();
    assert.equal(at(0).explainedQuietMs, 5_000);
    assert.equal(at(0, 1_000).explainedQuietMs, 9_000);
    records.sent(endpoint, 0);
    records.heard(endpoint, 10_000);
    assert.equal(at(10_000).explainedQuietMs, 45_000);
    records.age(300_000);
    assert.equal(at(10_000).explainedQuietMs, 25_000);
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
