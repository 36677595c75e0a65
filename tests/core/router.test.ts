import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { FakeClock } from "../support/fake-clock.ts";
import { RecordedResponse } from "../support/recorded-response.ts";
import { startTestRouter, type TestRouterOptions, waitUntil } from "../support/router.ts";
import { answerOk, CHAT } from "../support/scripted-pool.ts";
import { type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";
import { toldDiscovery } from "../support/told-discovery.ts";
import { requestHead } from "../support/wire-heads.ts";

/** A router on a clock that the test moves, over what the test says. */
async function setUp(options: Partial<TestRouterOptions> = {}) {
  const clock = new FakeClock();
  const discovery = toldDiscovery();
  const spec = `  plugins: [ { type: told } ]\n${options.spec ?? ""}`;
  const { router, close } = await startTestRouter([], { ...options, spec, clock, ready: 0, plugins: [discovery.definition] });
  const replicas: ScriptedReplica[] = [];
  let isClosed = false;
  const end = async () => {
    if (isClosed) return;
    isClosed = true;
    await close();
  };
  after(async () => {
    await end();
    await Promise.all(replicas.map((replica) => replica.close()));
  });
  const startReplica = async () => {
    const replica = await startScriptedReplica(answerOk);
    replicas.push(replica);
    return replica;
  };
  /** One request to its end. */
  const ask = async () => {
    const response = new RecordedResponse();
    const body = Buffer.from(`{"model":"m","messages":[{"role":"user","content":"${"hello ".repeat(200)}"}]}`);
    const head = requestHead(["Content-Type: application/json"], `POST ${CHAT} HTTP/1.1`);
    const receiver = router.start(head, body.length, response, "");
    receiver.body(body, 0, body.length);
    receiver.bodyEnd();
    await waitUntil(() => response.ending !== undefined);
    return response;
  };
  return { clock, discovery, router, startReplica, ask, end };
}

describe("a router", () => {
  it("is ready once one endpoint is available, and says so to all who wait", async () => {
    const { clock, discovery, router, startReplica } = await setUp();
    const waiting = [router.whenReady(60_000), router.whenReady(60_000)];
    const { url } = await startReplica();
    discovery.tell({ a: url, dead: "http://127.0.0.1:9" });
    await clock.advance(0);
    assert.deepEqual(await Promise.all(waiting), [true, true]);
    assert.equal(await router.whenReady(0), true);
    assert.deepEqual([...router.pool.facts.served], ["m"]);
  });

  it("says when nobody was available in time, and waits no longer", async () => {
    const { clock, router } = await setUp();
    const { pending } = clock;
    const waiting = router.whenReady(1_000);
    await clock.advance(1_000);
    assert.equal(await waiting, false);
    assert.equal(clock.pending, pending);
  });

  it("keeps a connection to each replica, and forgets it with what it believed once the replica has moved", async () => {
    const { clock, discovery, router, startReplica, ask } = await setUp({
      spec: "  profiles: [ { name: default, plugins: [ { pluginRef: prefix-cache } ] } ]\n",
    });
    const [old, moved] = [await startReplica(), await startReplica()];
    discovery.tell({ a: old.url });
    await clock.advance(0);
    await waitUntil(() => router.pool.facts.served.size > 0);
    const [before] = router.pool.facts.endpoints;
    assert.equal((await ask()).status, 200);
    assert.equal(router.pool.connections.openTo(before!), 1);
    assert.equal(router.pool.prefixStats?.slots.length, 1);
    discovery.tell({ a: moved.url });
    await clock.advance(0);
    await waitUntil(() => router.pool.facts.served.size > 0);
    const [now] = router.pool.facts.endpoints;
    assert.equal(now?.slot, before?.slot);
    assert.equal(router.pool.connections.openTo(now!), 0);
    assert.deepEqual(router.pool.prefixStats?.slots, []);
    await waitUntil(() => old.sockets.size === 0);
    assert.equal((await ask()).status, 200);
    assert.deepEqual([old.requests.length, moved.requests.length], [1, 1]);
  });

  it("that is closed leaves no timer and no connection", async () => {
    const { clock, discovery, router, startReplica, ask, end } = await setUp();
    const replica = await startReplica();
    const waiting = router.whenReady(60_000);
    discovery.tell({ a: replica.url });
    await clock.advance(0);
    assert.equal(await waiting, true);
    await ask();
    assert.equal(router.pool.connections.openTo(router.pool.facts.endpoints[0]!), 1);
    await end();
    await waitUntil(() => replica.sockets.size === 0);
    assert.equal(clock.pending, 0);
  });
});
