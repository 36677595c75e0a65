import assert from "node:assert/strict";
import { after, it } from "node:test";
import { exchange, readAnswer } from "../support/raw-client.ts";
import { startRouterProcess } from "../support/router-process.ts";
import { jsonAnswer, type Script, startScriptedReplica } from "../support/scripted-replica.ts";

const TIMEOUT = { timeout: 60_000 };
/** A probe takes half of its limit, so that one is nearly always under way. */
const PROBE_MS = 300;
const SPEC = `  pool: { probes: { readiness: { path: /up, periodSeconds: 0.05, timeoutSeconds: ${(2 * PROBE_MS) / 1000}, failureThreshold: 1 } } }`;
const READY = "GET /ready HTTP/1.1\r\nhost: router\r\n\r\n";

const slowly: Script = (_request, socket) => void setTimeout(() => socket.write(jsonAnswer("{}")), PROBE_MS);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it(
  "a router that was stopped for seconds takes no replica for dead: a probe that was under way says nothing",
  TIMEOUT,
  async () => {
    const replicas = await Promise.all([startScriptedReplica(slowly), startScriptedReplica(slowly)]);
    const router = await startRouterProcess(
      replicas.map(({ url }) => url),
      { spec: SPEC },
    );
    after(async () => {
      router.kill("SIGKILL");
      await Promise.all(replicas.map((replica) => replica.close()));
    });
    const statuses: number[] = [];
    for (let stop = 0; stop < 3; stop++) {
      router.kill("SIGSTOP");
      await pause(2_000);
      router.kill("SIGCONT");
      for (let time = 0; time < 20; time++) {
        statuses.push(readAnswer(await exchange(router.port, READY)).status);
        await pause(20);
      }
    }
    assert.deepEqual([...new Set(statuses)], [200]);
    assert.doesNotMatch(router.errors, /not.ready/i);
  },
);
