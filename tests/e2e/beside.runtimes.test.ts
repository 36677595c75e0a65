import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { askFor } from "../support/admin.ts";
import { killAll, run } from "../support/cli.ts";
import type { WholeStatus } from "../support/features.ts";
import { RULE } from "../support/mirror-pool.ts";
import { exchange } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { startRouterProcess } from "../support/router-process.ts";
import { answerOk, chatPost } from "../support/scripted-pool.ts";
import { type Script, startScriptedReplica } from "../support/scripted-replica.ts";

after(killAll);

it("explain, status and metrics show the mirror and the shadow of a running router; its stop waits for no copy", {
  timeout: 60_000,
}, async () => {
  const mirrorScript: Script = (request, socket) => {
    if (request.index === 0) answerOk(request, socket);
  };
  const replicas = await Promise.all([startScriptedReplica(answerOk, ["v1"]), startScriptedReplica(mirrorScript, ["v2"])]);
  const folder = mkdtempSync(join(tmpdir(), "signalbox-test-"));
  const config = join(folder, "router.yaml");
  writeFileSync(
    config,
    `apiVersion: signalbox/v1
kind: Router
spec:
  pool: { endpoints: [ { url: "${replicas[0].url}", name: gpu-a }, { url: "${replicas[1].url}", name: gpu-b } ] }
  mirrors: [ { rule: food, target: v2 } ]
  shadow: { name: candidate, plugins: [ { pluginRef: random } ] }
${RULE}
`,
  );
  const router = await startRouterProcess([], { config, hasAdmin: true });
  after(async () => {
    router.kill("SIGKILL");
    await Promise.all(replicas.map((replica) => replica.close()));
    rmSync(folder, { recursive: true, force: true });
  });
  await exchange(router.port, chatPost("", "X-Request-Id: r1\r\n"));
  const statusNow = async () => JSON.parse((await askFor(router.adminPort, "/status")).body) as WholeStatus;
  let status = await statusNow();
  for (let tries = 0; tries < 500 && status.rewrites[0]?.mirrors[0]?.inFlight !== 0; tries++) status = await statusNow();
  const [mirror] = status.rewrites[0]!.mirrors;
  assert.deepEqual(
    { ...mirror, meanFirstByteMs: 0, originalMeanFirstByteMs: 0 },
    {
      ...{ target: "v2", percent: 100, maxInFlight: 16, inFlight: 0, sent: 1, results: { "2xx": 1 }, skipped: {} },
      ...{ compared: 1, meanFirstByteMs: 0, originalMeanFirstByteMs: 0 },
    },
  );
  const { name, decisions, disagreements } = status.shadow!;
  assert.deepEqual({ name, decisions, disagreements }, { name: "candidate", decisions: 1, disagreements: 0 });

  const metrics = (await askFor(router.adminPort, "/metrics")).body;
  assert.match(metrics, /^signalbox_mirror_copies_total\{rule="food\/0",target="v2",result="2xx"\} 1$/m);
  assert.match(metrics, /^signalbox_shadow_decisions_total\{profile="candidate"\} 1$/m);

  const explained = await run("explain", "r1", "--admin", `http://127.0.0.1:${router.adminPort}`);
  assert.match(explained.out, /mirror +mirrored to gpu-b as v2: status 200, first byte after \d+ ms\n/);
  assert.match(explained.out, /shadow +the shadow profile candidate would have chosen the same\n/);
  const shown = await run("status", "--admin", `http://127.0.0.1:${router.adminPort}`);
  assert.match(shown.out, /mirrored 100% to v2: 1 sent, 2xx 1, first byte after \d+ ms, of its requests \d+ ms\n/);

  await exchange(router.port, chatPost());
  await waitUntil(() => replicas[1].requests.length === 2);
  const fromMs = performance.now();
  router.kill("SIGTERM");
  const { code, atMs } = await router.exited;
  assert.equal(code, 0);
  // The copy would hang for a minute, a drain for 25 s.
  assert.ok(atMs - fromMs < 15_000);
});
