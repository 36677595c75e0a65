import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { SharedStatus } from "../../plugins/features/shared/shared-status.ts";
import { askFor } from "../support/admin.ts";
import { hitShare } from "../support/hit-share.ts";
import { programOn } from "../support/own-runtime.ts";
import { exchange, openClient } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { type RouterProcess, startRouterProcess } from "../support/router-process.ts";
import { chatPost, OK, STREAM } from "../support/scripted-pool.ts";
import { type Script, type ScriptedReplica, STREAM_HEAD, startScriptedReplica } from "../support/scripted-replica.ts";
import { NO_REDIS, startRedis, type TestStore } from "../support/stores.ts";

const RUNTIMES = ["node", "deno", "bun", "node"] as const;

describe("four routers of three runtimes behind one address", { skip: NO_REDIS, timeout: 170_000 }, () => {
  let store: TestStore;
  let replicas: ScriptedReplica[];
  let routers: RouterProcess[];
  let isHeld = false;
  const script: Script = (_request, socket) => void socket.write(isHeld ? STREAM_HEAD : OK);

  const start = (run: (typeof RUNTIMES)[number], spec: string) =>
    startRouterProcess(
      replicas.map(({ url }) => url),
      { spec, run: programOn(run), hasAdmin: true, env: { SHARED_TEST: "a-secret-of-at-least-sixteen" } },
    );
  const sharedOf = async ({ adminPort }: RouterProcess): Promise<SharedStatus> =>
    JSON.parse((await askFor(adminPort, "/status")).body).shared;
  /** Until it holds of what all routers say. */
  const until = async (routers: readonly RouterProcess[], isSo: (shared: SharedStatus) => boolean) => {
    for (const start = performance.now(); ; ) {
      const all = await Promise.all(routers.map(sharedOf));
      if (all.every(isSo)) return;
      if (performance.now() - start > 25_000) assert.fail(JSON.stringify(all));
    }
  };

  before(async () => {
    store = await startRedis();
    replicas = await Promise.all([0, 1, 2].map(() => startScriptedReplica(script)));
    const spec = `  shared: { secret: "env:SHARED_TEST", redis: { url: redis://127.0.0.1:${store.port} } }`;
    routers = await Promise.all(RUNTIMES.map((runtime) => start(runtime, spec)));
    await until(routers, (shared) => shared.routers.length === RUNTIMES.length - 1);
  });
  after(async () => {
    for (const router of routers) router.kill("SIGTERM");
    await Promise.all(routers.map(({ exited }) => exited));
    await Promise.all(replicas.map((replica) => replica.close()));
    await store.stop();
  });

  it("find what is cached as one router does", async () => {
    const alone = await start("node", "");
    const ofOne = await hitShare(replicas, [alone.port], 1);
    alone.kill("SIGTERM");
    await alone.exited;
    const ofFour = await hitShare(
      replicas,
      routers.map(({ port }) => port),
      2,
    );
    assert.ok(ofFour >= 0.95 * ofOne, `${ofFour} of four, ${ofOne} of one`);
  });

  it("forget within five seconds what one had in flight that is killed", async () => {
    const [first, ...rest] = routers as [RouterProcess, ...RouterProcess[]];
    isHeld = true;
    const clients = await Promise.all([0, 1, 2].map(() => openClient(first.port)));
    for (const client of clients) client.send(chatPost(STREAM));
    const inFlight = (shared: SharedStatus) => shared.routers.reduce((sum, each) => sum + each.inFlight, 0);
    await until(rest, (shared) => inFlight(shared) === clients.length);
    isHeld = false;
    first.kill("SIGKILL");
    const killedMs = performance.now();
    await until(rest, (shared) => inFlight(shared) === 0 && shared.routers.length === rest.length - 1);
    // A second for the questions themselves.
    assert.ok(performance.now() - killedMs < 6_000);
    for (const { port } of rest) assert.match(await exchange(port, chatPost()), /^HTTP\/1\.1 200 /);
    await waitUntil(() => clients.every(({ isClosed }) => isClosed));
  });
});
