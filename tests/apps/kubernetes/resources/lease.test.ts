import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Lease } from "../../../../apps/kubernetes/resources/lease.ts";
import { silentLog } from "../../../../core/contract/log.ts";
import { FakeClock, settle } from "../../../support/fake-clock.ts";
import { ScriptedApi } from "./scripted-api.ts";

const PATH = "/apis/coordination.k8s.io/v1/namespaces/llm/leases/signalbox-llama";

/** Routers that share a Lease, on clocks that a test moves together. */
function setUp(...names: readonly string[]) {
  const api = new ScriptedApi();
  const clock = new FakeClock();
  const told: string[] = [];
  const make = (identity: string) =>
    new Lease({
      client: api,
      namespace: "llm",
      name: "signalbox-llama",
      identity,
      changed: (isHeld) => void told.push(`${identity} ${isHeld ? "holds" : "lost"}`),
      clock,
      random: () => 0.5,
      log: silentLog,
    });
  const routers = names.map(make);
  const spec = () => api.objects.get(PATH)?.["spec"] as { holderIdentity: string; leaseTransitions: number } | undefined;
  return { api, clock, told, routers, make, spec };
}

describe("a Lease", () => {
  it("is held by one of several routers, and renewed", async () => {
    const { clock, told, routers, api } = setUp("a", "b", "c");
    for (const router of routers) router.start();
    await clock.advance(120_000);
    assert.deepEqual(told, ["a holds"]);
    assert.deepEqual(
      routers.map(({ isHeld }) => isHeld),
      [true, false, false],
    );
    assert.ok(api.asked.filter(({ method }) => method === "PUT").length > 10);
  });

  it("is taken by another one after its holder has said nothing for its time, and not before", async () => {
    const { clock, told, api, make, spec } = setUp();
    const old = {
      spec: { holderIdentity: "gone", leaseDurationSeconds: 15, renewTime: "2020-01-01T00:00:00Z", leaseTransitions: 3 },
    };
    api.objects.set(PATH, { metadata: { resourceVersion: "7" }, ...old });
    make("a").start();
    await clock.advance(14_000);
    assert.deepEqual([told, spec()?.holderIdentity], [[], "gone"], "an old time on another clock says nothing");
    await clock.advance(6_000);
    assert.deepEqual([told, spec()?.holderIdentity], [["a holds"], "a"]);
    assert.equal(spec()?.leaseTransitions, 4);
  });

  it("is given back at a stop, so that the next one takes it when it looks", async () => {
    const { clock, told, routers } = setUp("a", "b");
    for (const router of routers) router.start();
    await clock.advance(6_000);
    await routers[0]?.stop();
    await clock.advance(6_000);
    assert.deepEqual(told, ["a holds", "b holds"]);
  });

  it("is no longer held by one that can't renew it, before others take it", async () => {
    const { clock, told, routers, api } = setUp("a");
    routers[0]?.start();
    await clock.advance(6_000);
    api.isDown = true;
    await clock.advance(9_000);
    assert.equal(routers[0]?.isHeld, false);
    await clock.advance(6_000);
    api.isDown = false;
    await clock.advance(6_000);
    assert.deepEqual(told, ["a holds", "a lost", "a holds"]);
  });

  it("goes to one alone where two take it at once", async () => {
    const { clock, routers } = setUp("a", "b");
    for (const router of routers) router.start();
    await settle();
    await clock.advance(100);
    assert.deepEqual(
      routers.map(({ isHeld }) => isHeld),
      [true, false],
    );
  });

  it("is not waited for long at a stop when the server is silent", async () => {
    const { clock, routers, api } = setUp("a");
    routers[0]?.start();
    await clock.advance(1_000);
    api.isDown = true;
    await routers[0]?.stop();
    assert.equal(clock.pending, 0);
  });
});
