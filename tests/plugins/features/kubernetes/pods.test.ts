import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { portsOfPods, readPod } from "../../../../plugins/features/kubernetes/pods.ts";

const PORTS = { prefill: [8000], decode: [8200], standalone: undefined };
const READY = { type: "Ready", status: "True" };

function podOf(changes: { metadata?: object; status?: object } = {}) {
  const metadata = { name: "pod", ...changes.metadata };
  const status = { phase: "Running", podIP: "10.0.0.1", conditions: [READY], ...changes.status };
  return readPod({ metadata, status });
}

const endpointsOf = (pod: ReturnType<typeof podOf>, ports: object = {}, poolPorts: readonly number[] = []) =>
  portsOfPods(pod === undefined ? [] : [pod], { ...PORTS, ...ports }, poolPorts).flatMap(({ spec: { name, url }, isInactive }) =>
    isInactive === true ? [] : [`${name} ${url}`],
  );

describe("a pod", () => {
  const states: readonly (readonly [what: string, changes: Parameters<typeof podOf>[0], reported: string | undefined])[] = [
    ["that is ready", {}, "ready"],
    ["that is not ready", { status: { conditions: [{ type: "Ready", status: "False" }] } }, "not-ready"],
    ["of which the node says nothing any more", { status: { conditions: [{ type: "Ready", status: "Unknown" }] } }, "not-ready"],
    ["whose containers alone are ready", { status: { conditions: [{ type: "ContainersReady", status: "True" }] } }, "not-ready"],
    ["without conditions", { status: { conditions: undefined } }, "not-ready"],
    ["that is deleted", { metadata: { deletionTimestamp: "2030-01-01T00:00:00Z" } }, "leaving"],
    [
      "that is not ready, and deleted",
      { metadata: { deletionTimestamp: "2030-01-01T00:00:00Z" }, status: { conditions: [] } },
      "leaving",
    ],
    ["without an address", { status: { podIP: undefined } }, undefined],
    ["that has ended", { status: { phase: "Succeeded" } }, undefined],
    ["that has failed", { status: { phase: "Failed" } }, undefined],
  ];
  for (const [what, changes, reported] of states) it(what, () => assert.equal(podOf(changes)?.reported, reported));

  const ports: readonly (readonly [
    what: string,
    metadata: object,
    ports: object,
    pool: readonly number[],
    urls: readonly string[],
  ])[] = [
    ["no role", {}, {}, [], ["pod http://10.0.0.1:8000"]],
    ["no role, in a pool with a port", {}, {}, [9000], ["pod http://10.0.0.1:9000"]],
    ["no role, in a pool, where the config has ports", {}, { standalone: [7000] }, [9000], ["pod http://10.0.0.1:7000"]],
    ["the role prefill", { labels: { "llm-d.ai/role": "prefill" } }, {}, [9000], ["pod http://10.0.0.1:8000"]],
    ["the role decode", { labels: { "llm-d.ai/role": "decode" } }, {}, [9000], ["pod http://10.0.0.1:8200"]],
    [
      "the role decode, where the config has ports",
      { labels: { "llm-d.ai/role": "decode" } },
      { decode: [1] },
      [],
      ["pod http://10.0.0.1:1"],
    ],
    ["another role", { labels: { "llm-d.ai/role": "both" } }, {}, [9000], ["pod http://10.0.0.1:9000"]],
    ["several ports", {}, {}, [1, 2], ["pod-rank-0 http://10.0.0.1:1", "pod-rank-1 http://10.0.0.1:2"]],
    [
      "several ports, one of them in use",
      { annotations: { "llm-d.ai/active-ports": " 2 " } },
      {},
      [1, 2],
      ["pod-rank-1 http://10.0.0.1:2"],
    ],
    ["ports in use that are none of its own", { annotations: { "llm-d.ai/active-ports": "5" } }, {}, [1, 2], []],
    [
      "an annotation that is no list of ports",
      { annotations: { "llm-d.ai/active-ports": "all" } },
      {},
      [1, 2],
      ["pod-rank-0 http://10.0.0.1:1", "pod-rank-1 http://10.0.0.1:2"],
    ],
  ];
  for (const [what, metadata, own, pool, urls] of ports)
    it(`with ${what}`, () => assert.deepEqual(endpointsOf(podOf({ metadata }), own, pool), urls));

  it("with an address of IPv6", () => {
    assert.deepEqual(endpointsOf(podOf({ status: { podIP: "fd00::1" } })), ["pod http://[fd00::1]:8000"]);
  });

  it("gives its endpoints its labels", () => {
    const pod = podOf({ metadata: { labels: { app: "vllm", weird: 5 } } });
    assert.deepEqual(portsOfPods(pod ? [pod] : [], PORTS, [])[0]?.spec.labels, { app: "vllm" });
  });
});
