import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeEndpoints } from "../../../../core/contract/test-kit.ts";
import { fingerprint, RequestFaults } from "../../../../plugins/features/ejection/request-faults.ts";

const [a, b, c] = makeEndpoints(3) as [
  ReturnType<typeof makeEndpoints>[0],
  ReturnType<typeof makeEndpoints>[0],
  ReturnType<typeof makeEndpoints>[0],
];

describe("whose fault a failure is", () => {
  it("the endpoint's, however often the same request fails there", () => {
    const faults = new RequestFaults();
    for (let i = 0; i < 5; i++) assert.deepEqual(faults.failed(7, a, "500", i), { fault: "endpoint" });
  });

  it("the request's, once it failed on two endpoints; the first was blamed wrongly, as often as it failed there", () => {
    const faults = new RequestFaults();
    for (const atMs of [0, 5]) faults.failed(7, a, "500", atMs);
    assert.deepEqual(faults.failed(7, b, "500", 6), { fault: "request", wrongly: { endpoint: a, timesMs: [0, 5] } });
    assert.deepEqual(faults.failed(7, c, "500", 7), { fault: "request", wrongly: undefined });
    assert.deepEqual(faults.failed(7, a, "500", 8), { fault: "request", wrongly: undefined });
  });

  it("the endpoints' where it failed in another way on each", () => {
    const faults = new RequestFaults();
    faults.failed(7, a, "500", 0);
    assert.deepEqual(faults.failed(7, b, "503", 1), { fault: "endpoint" });
    assert.deepEqual(faults.failed(7, c, "500", 2), { fault: "request", wrongly: { endpoint: a, timesMs: [0] } });
  });

  it("the endpoints' where the same request succeeded on another one", () => {
    const faults = new RequestFaults();
    faults.failed(7, a, "500", 0);
    faults.succeeded(7);
    assert.deepEqual(faults.failed(7, a, "no response", 1), { fault: "endpoint" });
    assert.deepEqual(faults.failed(7, b, "no response", 2), { fault: "endpoint" });
  });

  it("is taken back no second time", () => {
    const faults = new RequestFaults();
    for (const atMs of [0, 5]) faults.failed(7, a, "500", atMs);
    faults.cleared({ endpoint: a, timesMs: [0] });
    assert.deepEqual(faults.failed(7, b, "500", 6), { fault: "request", wrongly: { endpoint: a, timesMs: [5] } });
  });

  it("makes successes matter for a minute, and no longer", () => {
    const faults = new RequestFaults();
    assert.equal(faults.isWatching(0), false);
    faults.failed(7, a, "500", 0);
    assert.deepEqual([faults.isWatching(59_999), faults.isWatching(60_000)], [true, false]);
  });

  it("is forgotten after a minute, and there are never more than so many", () => {
    const faults = new RequestFaults();
    faults.failed(7, a, "500", 0);
    assert.deepEqual(faults.failed(7, b, "500", 60_001), { fault: "endpoint" });
    for (let request = 100; request < 1_000; request++) faults.failed(request, a, "500", 60_002);
    assert.deepEqual(faults.failed(101, b, "500", 60_003), { fault: "endpoint" });
  });
});

describe("a fingerprint", () => {
  const changed = (length: number, from: number, bytes: number) =>
    fingerprint(new Uint8Array(length).fill(1, from, from + bytes));
  const cases: readonly (readonly [name: string, length: number, from: number, bytes: number])[] = [
    ["the first byte", 200_000, 0, 1],
    ["the last byte", 200_000, 199_999, 1],
    ["a byte near the end", 200_001, 198_100, 1],
    ["a 256th of the middle", 200_000, 70_001, 800],
    ["any byte of a short body", 4_099, 2_048, 1],
    ["the last byte of a very short body", 3, 2, 1],
  ];
  for (const [name, length, from, bytes] of cases) {
    it(`depends on ${name}`, () => assert.notEqual(changed(length, from, bytes), changed(length, 0, 0)));
  }

  it("depends on the length", () => assert.notEqual(changed(200_000, 0, 0), changed(200_004, 0, 0)));

  it("does not depend on where the body lies in memory", () => {
    const body = new Uint8Array(10_001).map((_, at) => at);
    assert.equal(fingerprint(body.subarray(1)), fingerprint(body.slice(1)));
  });
});
