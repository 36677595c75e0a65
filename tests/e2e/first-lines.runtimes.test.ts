import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { obstacleToSharedPorts } from "../../core/runtime/shared-port.ts";
import { exchange, readAnswer } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { startRouterProcess } from "../support/router-process.ts";
import { answerOk, chatPost } from "../support/scripted-pool.ts";
import { startScriptedReplica } from "../support/scripted-replica.ts";
import { startSilentServer } from "../support/silent-server.ts";

const TIMEOUT = { timeout: 60_000 };
/** Nobody listens there. */
const UNREACHABLE = "http://127.0.0.1:1";

async function start(urls: readonly string[]) {
  const router = await startRouterProcess(urls);
  after(() => router.kill("SIGKILL"));
  return router;
}

async function startReplicas(count: number) {
  const replicas = await Promise.all(Array.from({ length: count }, () => startScriptedReplica(answerOk)));
  after(() => Promise.all(replicas.map((replica) => replica.close())));
  return replicas;
}

/** The first lines of a log that no terminal shows. */
function messagesOf(printed: string): readonly string[] {
  return printed
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { message: string }).message);
}

describe("the first lines of start", () => {
  it("count every replica that is up", TIMEOUT, async () => {
    const replicas = await startReplicas(10);
    const { printed, errors } = await start(replicas.map(({ url }) => url));
    assert.match(messagesOf(printed).join("\n"), /^Signalbox is listening on .*: 10 of 10 replicas ready, models: m$/);
    assert.equal(errors, printed);
  });

  it("say which replicas are not ready, and why", TIMEOUT, async () => {
    const [replica] = await startReplicas(1);
    const { printed } = await start([replica!.url, UNREACHABLE]);
    const text = messagesOf(printed).join("\n");
    assert.match(text, /: 1 of 2 replicas ready, models: m\nNot ready: 127\.0\.0\.1-1 \(refused\)$/);
  });

  it("wait two seconds for a replica that does not respond, after a line that says so", TIMEOUT, async () => {
    const silent = await startSilentServer();
    after(() => silent.close());
    const [replica] = await startReplicas(1);
    const { printed, port } = await start([silent.url, replica!.url]);
    const lines = messagesOf(printed);
    // The other one may be probed after this line, on a busy machine.
    assert.match(
      lines[0]!,
      /^Requests to http:\S+ are taken; waiting up to two seconds for the first probes of (one replica|2 replicas)\.$/,
    );
    assert.match(lines[1]!, /: 1 of 2 replicas ready, models: m$/);
    assert.match(lines[2]!, /^Not ready: \S+ \(no response yet\)$/);
    assert.equal(readAnswer(await exchange(port, chatPost())).status, 200);
  });
});

describe("a port that may be shared is not listened on", { skip: obstacleToSharedPorts() || false }, () => {
  const spec = "  listen: { reusePort: true }";

  it("before the first probes", TIMEOUT, async () => {
    const silent = await startSilentServer();
    after(() => silent.close());
    const [replica] = await startReplicas(1);
    const router = await startRouterProcess([silent.url, replica!.url], { spec });
    after(() => router.kill("SIGKILL"));
    const lines = messagesOf(router.printed);
    assert.match(
      lines[0]!,
      /^The port may be shared, so requests are taken after the first probes of (one replica|2 replicas), in two seconds at most\.$/,
    );
    assert.match(lines[1]!, /^Signalbox is listening on .*: 1 of 2 replicas ready, models: m$/);
    assert.equal(readAnswer(await exchange(router.port, chatPost())).status, 200);
  });

  it("where the admin port is taken", TIMEOUT, async () => {
    const taken = await startSilentServer();
    after(() => taken.close());
    const { port } = new URL(taken.url);
    await assert.rejects(
      startRouterProcess([UNREACHABLE], { spec, admin: `{ port: ${port} }` }),
      new RegExp(`127\\.0\\.0\\.1:${port} is in use; stop what listens there or choose another with --admin-port`),
    );
  });
});

describe("the operator's log", () => {
  it("has a line when a replica stops being ready, with the reason, and one when it is ready again", TIMEOUT, async () => {
    const [replica] = await startReplicas(1);
    const router = await start([replica!.url]);
    await replica!.refuse();
    for (const socket of replica!.sockets) socket.destroy();
    await exchange(router.port, chatPost());
    await waitUntil(() => router.errors.includes("A replica is not ready any more"));
    assert.match(router.errors, /"why":"refused","lastedS":/);
    // Replicas that are ready in the first two seconds are in the first line, so they are not logged.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await replica!.listenAgain();
    await waitUntil(() => router.errors.includes('"A replica is ready"'), 20_000);
    assert.match(router.errors, /"models":"m"/);
  });
});
