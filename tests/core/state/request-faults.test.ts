import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { makeEndpoints } from "../../../core/contract/test-kit.ts";
import { fingerprint, RequestFaults } from "../../../core/state/request-faults.ts";

const [a, b, c] = makeEndpoints(3) as [
  ReturnType<typeof makeEndpoints>[0],
  ReturnType<typeof makeEndpoints>[0],
  ReturnType<typeof makeEndpoints>[0],
];

describe("whose fault a failure is", () => {
  it("the endpoint's, however often the same request fails there", () => {
    const faults = new RequestFaults();
    for (let i = 0; i < 5; i++) assert.deepEqual(faults.failed(7, a, i), { fault: "endpoint" });
  });

  it("the request's, once it failed on two endpoints; the first was blamed wrongly", () => {
    const faults = new RequestFaults();
    faults.failed(7, a, 0);
    assert.deepEqual(faults.failed(7, b, 1), { fault: "request", wrongly: a });
    assert.deepEqual(faults.failed(7, c, 2), { fault: "request", wrongly: undefined });
    assert.deepEqual(faults.failed(7, a, 3), { fault: "request", wrongly: undefined });
  });

  it("the endpoints' where the same request succeeded on another one", () => {
    const faults = new RequestFaults();
    faults.failed(7, a, 0);
    faults.succeeded(7);
    assert.deepEqual(faults.failed(7, b, 1), { fault: "endpoint" });
  });

  it("is forgotten after a minute, and there are never more than so many", () => {
    const faults = new RequestFaults();
    faults.failed(7, a, 0);
    assert.deepEqual(faults.failed(7, b, 60_001), { fault: "endpoint" });
    for (let request = 100; request < 1_000; request++) faults.failed(request, a, 60_002);
    assert.deepEqual(faults.failed(101, b, 60_003), { fault: "endpoint" });
  });
});

test("a fingerprint depends on length and on both ends of a long body", () => {
  const body = new Uint8Array(200_000);
  const changed = (at: number) => {
    const copy = body.slice();
    copy[at] = 1;
    return fingerprint(copy);
  };
  assert.notEqual(changed(0), fingerprint(body));
  assert.notEqual(changed(199_999), fingerprint(body));
  assert.notEqual(fingerprint(body.subarray(1)), fingerprint(body));
  assert.equal(fingerprint(body.slice()), fingerprint(body));
});
