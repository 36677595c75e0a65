import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { startBlackHole } from "../support/black-hole.ts";
import { openFiles } from "../support/process-usage.ts";
import { exchange, openClient, readAnswer } from "../support/raw-client.ts";
import { outstanding, startTestRouter, waitUntil } from "../support/router.ts";
import { answerOk, assertIdle, chatPost } from "../support/scripted-pool.ts";
import { startScriptedReplica } from "../support/scripted-replica.ts";

const LIMIT = "  limits: { connectTimeoutMs: 200 }";

describe("a replica that neither accepts nor refuses connections", () => {
  it("costs no request: another replica serves it, and it is tried no more", { timeout: 30_000 }, async () => {
    const hole = await startBlackHole();
    const replica = await startScriptedReplica(answerOk);
    const router = await startTestRouter([hole.url, replica.url], {
      spec: `${LIMIT}\n  profiles: [ { name: default, plugins: [ { pluginRef: round-robin } ] } ]`,
    });
    after(async () => {
      await router.close();
      await replica.close();
      hole.close();
    });
    await hole.swallow();
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(router.port, chatPost())));
    for (const answer of answers) assert.equal(readAnswer(answer).status, 200);
    const holeName = router.router.pool.facts.endpoints[0]!.name;
    const attempts = router.log.flatMap((line) => line.attempts.filter(({ endpoint }) => endpoint === holeName));
    assert.ok(attempts.length > 0);
    for (const { result } of attempts) assert.equal(result, "connect-timeout");
    assert.notEqual(router.router.pool.facts.endpoints[0]!.phase, "ready");
    await assertIdle(router);
  });

  it("gives 502 within the limit where it is the only one, and keeps no socket", { timeout: 30_000 }, async () => {
    const hole = await startBlackHole();
    const router = await startTestRouter([hole.url], { spec: LIMIT });
    after(async () => {
      await router.close();
      hole.close();
    });
    await hole.swallow();
    const filesBefore = openFiles();
    const answer = readAnswer(await exchange(router.port, chatPost()));
    assert.equal(answer.status, 502);
    assert.equal((answer.json["error"] as { code: string }).code, "upstream_unreachable");
    await assertIdle(router);
    await waitUntil(() => router.log.length === 1);
    assert.equal(router.log[0]!.attempts[0]!.result, "connect-timeout");
    await waitUntil(() => openFiles() <= filesBefore);
  });

  it("keeps nothing of a client that leaves meanwhile", { timeout: 30_000 }, async () => {
    const hole = await startBlackHole();
    const router = await startTestRouter([hole.url], { spec: "  limits: { connectTimeoutMs: 20000 }" });
    after(async () => {
      await router.close();
      hole.close();
    });
    await hole.swallow();
    const filesBefore = openFiles();
    const clients = await Promise.all(Array.from({ length: 20 }, () => openClient(router.port)));
    for (const client of clients) client.send(chatPost());
    await waitUntil(() => outstanding(router.router).inFlight === clients.length);
    for (const client of clients) client.destroy();
    await assertIdle(router);
    await waitUntil(() => openFiles() <= filesBefore);
    for (const { ending } of router.log) assert.equal(ending, "client-left");
  });
});
