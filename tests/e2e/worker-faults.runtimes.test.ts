/** Workers that are killed or frozen, and what the others, operators and clients see of it. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, it } from "node:test";
import type { Status } from "../../apps/admin/status.ts";
import type { ShownWorker } from "../../apps/cli/start/workers/group-status.ts";
import { askFor } from "../support/admin.ts";
import { exchange } from "../support/raw-client.ts";
import { type RouterProcess, startRouterProcess } from "../support/router-process.ts";
import { answerOk, chatPost } from "../support/scripted-pool.ts";
import { type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";

type Shown = Status & { readonly workers: readonly ShownWorker[] };

const KEY = "sk-alice";
const LIMIT = 20;
const SPEC = `  auth: { keys: [{ name: alice, sha256: "${createHash("sha256").update(KEY).digest("hex")}", limits: { requestsPerMinute: ${LIMIT} } }] }
  limits: { drainTimeoutMs: 100 }`;
/** Between two looks: the programs share the machine with the test. */
const LOOK_MS = 20;

describe("workers that fail", { timeout: 120_000 }, () => {
  let replicas: ScriptedReplica[];
  let router: RouterProcess;

  const start = (count: number) =>
    startRouterProcess(
      replicas.map(({ url }) => url),
      { spec: SPEC, admin: "{ port: 0 }", words: ["--workers", String(count)] },
    );
  const until = async <Value>(read: () => Promise<Value>, isSo: (value: Value) => boolean): Promise<Value> => {
    for (const start = performance.now(); ; ) {
      const value = await read().catch(() => undefined);
      if (value !== undefined && isSo(value)) return value;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      if (performance.now() - start > 30_000) assert.fail(`${JSON.stringify(value)}\n${router.errors}`);
    }
  };
  const shown = async (query = "") => {
    const { status, body } = await askFor(router.adminPort, `/status${query}`);
    assert.equal(status, 200, body);
    return JSON.parse(body) as Shown;
  };
  const isServed = async () => {
    const answer = await exchange(router.port, chatPost("", `Authorization: Bearer ${KEY}\r\nConnection: close\r\n`));
    return answer.startsWith("HTTP/1.1 200 ");
  };
  const kill = async (...workers: readonly number[]) => {
    const { workers: all } = await shown();
    for (const worker of workers) process.kill(all[worker - 1]!.pid!, "SIGKILL");
    await until(shown, (now) =>
      workers.every(
        (worker) => now.workers[worker - 1]!.pid !== all[worker - 1]!.pid && now.workers[worker - 1]!.state === "serving",
      ),
    );
  };
  /** Whether the first replica is drained, as each worker sees it. */
  const drained = async () => {
    const each = await Promise.all([1, 2].map((worker) => shown(`?worker=${worker}`)));
    return each.map(({ endpoints }) => endpoints[0]!.phase === "draining");
  };

  before(async () => {
    replicas = await Promise.all([0, 1].map(() => startScriptedReplica(answerOk)));
    router = await start(2);
  });
  after(async () => {
    router.kill("SIGKILL");
    await router.exited;
    await Promise.all(replicas.map((replica) => replica.close()));
  });

  it("are followed by one that knows, when it serves, what the others do, and what the one before it did", async () => {
    const { endpoints } = await shown();
    const name = encodeURIComponent(endpoints[0]!.name);
    const drain = `POST /api/v1/endpoints/${name}/drain HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`;
    assert.match(await exchange(router.adminPort, drain), /^HTTP\/1\.1 200 /);
    await until(drained, (all) => all.every(Boolean));
    for (let n = 0; n < LIMIT; n++) assert.equal(await isServed(), true, `request ${n}`);
    const refusals = () => Promise.all(Array.from({ length: 10 }, isServed));
    await until(refusals, (served) => !served.includes(true));
    await kill(1);
    assert.deepEqual(await drained(), [true, true]);
    assert.ok(!(await refusals()).includes(true));
    await kill(1, 2);
    assert.deepEqual(await drained(), [true, true]);
  });

  it("are left out of what is shown while they say nothing, and don't hold up the end", async () => {
    const { workers } = await shown();
    process.kill(workers[1]!.pid!, "SIGSTOP");
    const [status, metrics] = await Promise.all([shown(), askFor(router.adminPort, "/metrics")]);
    assert.deepEqual(
      status.workers.map(({ state }) => state),
      ["serving", "silent"],
    );
    assert.ok(status.warnings.some((warning) => warning.startsWith(`worker 2 (process ${workers[1]!.pid}) does not answer`)));
    assert.equal(metrics.status, 200);
    await until(
      async () => router.errors,
      (errors) => errors.includes("A worker does not answer"),
    );
    process.kill(workers[1]!.pid!, "SIGCONT");
    await until(shown, (now) => now.workers[1]!.state === "serving");
    process.kill(workers[1]!.pid!, "SIGSTOP");
    await until(shown, (now) => now.workers[1]!.state === "silent");
    router.kill("SIGTERM");
    assert.equal((await router.exited).code, 0);
  });

  it("end with a program that is killed while it is frozen", async () => {
    router = await start(1);
    router.kill("SIGSTOP");
    router.kill("SIGKILL");
    await router.exited;
    const connects = () =>
      exchange(router.port, chatPost("")).then(
        () => true,
        () => false,
      );
    await until(connects, (isServed) => !isServed);
  });
});
