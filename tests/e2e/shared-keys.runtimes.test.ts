/** A key's limits hold at two routers together, on sockets and through a real store. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { it } from "node:test";
import { sharedStatusOf } from "../support/features.ts";
import { exchange } from "../support/raw-client.ts";
import { startTestRouter, waitUntil } from "../support/router.ts";
import { answerOk, chatPost } from "../support/scripted-pool.ts";
import { startScriptedReplica } from "../support/scripted-replica.ts";
import { NO_REDIS, startRedis } from "../support/stores.ts";

process.env["SHARED_TEST"] = "a-secret-of-at-least-sixteen";
const KEY = "sk-alice";
const LIMIT = 8;

it("a key's requests of a minute count at both routers", { skip: NO_REDIS, timeout: 60_000 }, async () => {
  const store = await startRedis();
  const replica = await startScriptedReplica(answerOk);
  const sha256 = createHash("sha256").update(KEY).digest("hex");
  const spec = `  shared: { secret: "env:SHARED_TEST", redis: { url: redis://127.0.0.1:${store.port} } }
  auth: { keys: [{ name: alice, sha256: "${sha256}", limits: { requestsPerMinute: ${LIMIT} } }] }`;
  const routers = await Promise.all([0, 1].map(() => startTestRouter([replica.url], { spec })));
  try {
    await waitUntil(() => routers.every(({ router }) => sharedStatusOf(router)?.routers.length === 1));
    const left: string[] = [];
    const ask = async (n: number) => {
      const response = await exchange(routers[n % 2]!.port, chatPost("", `Authorization: Bearer ${KEY}\r\n`));
      left.push(/x-ratelimit-remaining-requests: (\d+)/.exec(response)![1]!);
      return response.startsWith("HTTP/1.1 200");
    };
    for (let n = 0; n < LIMIT; n++) {
      const read = sharedStatusOf(routers[(n + 1) % 2]!.router)!.facts.read;
      assert.equal(await ask(n), true, `request ${n}`);
      // The other one has heard of it: its beginning, and its end.
      await waitUntil(() => sharedStatusOf(routers[(n + 1) % 2]!.router)!.facts.read > read + 3);
    }
    assert.deepEqual([await ask(0), await ask(1)], [false, false]);
    assert.deepEqual(left.slice(0, LIMIT), ["7", "6", "5", "4", "3", "2", "1", "0"]);
  } finally {
    await Promise.all(routers.map((router) => router.close()));
    await replica.close();
    await store.stop();
  }
});
