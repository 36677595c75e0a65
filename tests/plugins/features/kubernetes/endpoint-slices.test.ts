import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { portsOfSlices, readSlice, type Slice } from "../../../../plugins/features/kubernetes/endpoint-slices.ts";

const member = (address: string, pod?: string, conditions?: object) => ({
  addresses: [address],
  conditions,
  ...(pod !== undefined && { targetRef: { kind: "Pod", name: pod } }),
});

function sliceOf(endpoints: unknown, changes: object = {}): Slice | undefined {
  const ports = [{ name: "http", port: 8000 }];
  return readSlice({ metadata: { name: "s" }, addressType: "IPv4", ports, endpoints, ...changes });
}

const shown = (slices: readonly (Slice | undefined)[], port?: string) =>
  portsOfSlices(
    slices.filter((slice) => slice !== undefined),
    port,
  ).map(({ spec: { name, url, reported } }) => `${name} ${url} ${reported}`);

describe("the endpoints of slices", () => {
  it("are named after their pods, or their addresses, in the order of their names", () => {
    const slices = [sliceOf([member("10.0.0.2", "b")]), sliceOf([member("10.0.0.3"), member("10.0.0.1", "a")])];
    assert.deepEqual(shown(slices), [
      "10.0.0.3-8000 http://10.0.0.3:8000 ready",
      "a http://10.0.0.1:8000 ready",
      "b http://10.0.0.2:8000 ready",
    ]);
  });

  it("are ready, not ready or leaving; what is left out means ready", () => {
    const endpoints = [
      member("10.0.0.1", "a", {}),
      member("10.0.0.2", "b", { ready: false }),
      member("10.0.0.3", "c", { ready: false, serving: true, terminating: true }),
      // A Service that publishes addresses that are not ready.
      member("10.0.0.4", "d", { ready: true, serving: true, terminating: true }),
    ];
    assert.deepEqual(
      shown([sliceOf(endpoints)]).map((line) => line.split(" ")[2]),
      ["ready", "not-ready", "leaving", "leaving"],
    );
  });

  it("count once where a pod is in two slices, or has addresses of both families", () => {
    const slices = [
      sliceOf([member("fd00::1", "a"), member("fd00::2", "b")], { addressType: "IPv6" }),
      sliceOf([member("10.0.0.1", "a")]),
      sliceOf([member("10.0.0.1", "a")]),
    ];
    assert.deepEqual(shown(slices), ["a http://10.0.0.1:8000 ready", "b http://[fd00::2]:8000 ready"]);
  });

  it("are at the only port, or at the one that is named", () => {
    const ports = [
      { name: "metrics", port: 9400 },
      { name: "http", port: 8000 },
    ];
    const slice = sliceOf([member("10.0.0.1", "a")], { ports });
    assert.deepEqual(shown([slice], "http"), ["a http://10.0.0.1:8000 ready"]);
    assert.throws(() => shown([slice]), /the ports metrics, http: name one of them in spec\.kubernetes\.servicePort/);
    assert.throws(() => shown([slice], "grpc"), /the ports metrics, http/);
    assert.deepEqual(shown([sliceOf([member("10.0.0.1", "a")], { ports: [{ port: 8000 }] })]), ["a http://10.0.0.1:8000 ready"]);
  });

  it("are none for names, for empty slices, and for what is no slice", () => {
    assert.equal(sliceOf([member("vllm.example")], { addressType: "FQDN" }), undefined);
    assert.deepEqual(shown([sliceOf([], { ports: [] }), sliceOf(null, { ports: null })]), []);
    assert.deepEqual(shown([sliceOf([null, {}, { addresses: [] }])]), []);
  });
});
