import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EndpointSpec } from "../../../../core/contract/endpoint.ts";
import { portsOfPods, readPod } from "../../../../plugins/features/kubernetes/pods.ts";
import { ReplicaPorts } from "../../../../plugins/features/kubernetes/replica-ports.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const ROLES = { prefill: [1], decode: [2], standalone: undefined };

const podOf = (name: string, uid: string, annotations = {}) =>
  readPod({
    metadata: { name, uid, annotations },
    status: { phase: "Running", podIP: "10.0.0.1", conditions: [{ type: "Ready", status: "True" }] },
  })!;

function setUp(pods = [podOf("p1", "u1")]) {
  const clock = new FakeClock();
  const told: EndpointSpec[][] = [];
  const ports = new ReplicaPorts({ clock, found: (specs) => told.push([...specs]) });
  const tell = (poolPorts: readonly number[], now = pods) => {
    ports.tell(portsOfPods(now, ROLES, poolPorts));
    return shown();
  };
  const shown = () =>
    (told.at(-1) ?? []).map(({ name, url, replacedBy }) => {
      return `${name} ${url.split(":").at(-1)}${replacedBy === undefined ? "" : ` until ${replacedBy.join(",")}`}`;
    });
  return { clock, told, ports, tell, shown };
}

describe("replicas whose ports change", () => {
  const rows: readonly (readonly [
    what: string,
    before: readonly number[],
    after: readonly number[],
    shown: readonly string[],
  ])[] = [
    ["one more", [8000], [8000, 8001], ["p1 8000", "p1-rank-1 8001"]],
    ["one more in front", [8000], [7000, 8000], ["p1-rank-0 7000", "p1 8000"]],
    ["another one", [8000], [9000], ["p1-port-9000 9000", "p1 8000 until p1-port-9000"]],
    ["one less", [8000, 8001], [8001], ["p1-rank-1 8001", "p1-rank-0 8000 until p1-rank-1"]],
    ["in another order", [1, 2], [2, 1], ["p1-rank-1 2", "p1-rank-0 1"]],
    ["others", [1, 2], [3, 2], ["p1-port-3 3", "p1-rank-1 2", "p1-rank-0 1 until p1-port-3,p1-rank-1"]],
    ["none", [8000], [8000], ["p1 8000"]],
  ];
  for (const [what, before, after, expected] of rows) {
    it(`keep their names, and what is gone stays for a while: ${what}`, () => {
      const { tell } = setUp();
      tell(before);
      assert.deepEqual(tell(after), expected);
    });
  }

  it("lose the ports that are gone after five minutes, without news from the cluster", async () => {
    const { tell, shown, clock, told } = setUp();
    tell([8000]);
    tell([9000]);
    await clock.advance(200_000);
    assert.equal(tell([9000]).length, 2, "news do not begin the time anew");
    await clock.advance(99_000);
    assert.equal(shown().length, 2);
    await clock.advance(2_000);
    assert.deepEqual(shown(), ["p1-port-9000 9000"]);
    const times = told.length;
    await clock.advance(1_000_000);
    assert.equal(told.length, times);
  });

  it("take a port back that was gone", async () => {
    const { tell, shown, clock } = setUp();
    tell([8000]);
    tell([9000]);
    assert.deepEqual(tell([8000]), ["p1 8000", "p1-port-9000 9000 until p1"]);
    await clock.advance(400_000);
    assert.deepEqual(shown(), ["p1 8000"]);
  });

  it("go with their pod at once; another pod of the same name is another replica", () => {
    const { tell } = setUp();
    tell([8000]);
    tell([9000]);
    assert.deepEqual(tell([9000], []), []);
    assert.deepEqual(tell([9000], [podOf("p1", "u2")]), ["p1 9000"]);
  });

  it("leave out what a pod does not use now at once", () => {
    const { tell } = setUp();
    tell([1, 2]);
    const one = podOf("p1", "u1", { "llm-d.ai/active-ports": "2" });
    assert.deepEqual(tell([1, 2], [one]), ["p1-rank-1 2"]);
    assert.deepEqual(tell([1, 2]), ["p1-rank-0 1", "p1-rank-1 2"]);
  });

  it("are known to a search that goes on in another's place", () => {
    const { tell, ports, clock } = setUp();
    tell([8000]);
    const told: string[] = [];
    const next = new ReplicaPorts({ clock, portsBefore: ports, found: (specs) => told.push(...specs.map(({ name }) => name)) });
    next.tell(portsOfPods([podOf("p1", "u1")], ROLES, [8000, 8001]));
    assert.deepEqual(told, ["p1", "p1-rank-1"]);
    next.stop();
    ports.stop();
    assert.equal(clock.pending, 0);
  });
});
