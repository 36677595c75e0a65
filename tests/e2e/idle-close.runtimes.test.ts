import assert from "node:assert/strict";
import { after, it } from "node:test";
import { isWholeAnswer, openClient } from "../support/raw-client.ts";
import { startRouterProcess } from "../support/router-process.ts";
import { answerOk, chatPost } from "../support/scripted-pool.ts";
import { startScriptedReplica } from "../support/scripted-replica.ts";

const TIMEOUT = { timeout: 60_000 };
const IDLE_MS = 400;
const CLIENTS = 80;
/** The sweep that finds an idle connection comes up to twice a quarter of the idle time later; clients send until well after it. */
const SPREAD_MS = 2 * IDLE_MS;

it("a request that is sent just when its connection has been idle for long enough is served", TIMEOUT, async () => {
  const replica = await startScriptedReplica(answerOk);
  const router = await startRouterProcess([replica.url], { spec: `  limits: { idleTimeoutMs: ${IDLE_MS} }` });
  after(async () => {
    router.kill("SIGKILL");
    await replica.close();
  });
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => openClient(router.port)));
  const answers = await Promise.all(
    clients.map(async (client, index) => {
      client.send(chatPost());
      const first = await client.until(isWholeAnswer);
      await new Promise((resolve) => setTimeout(resolve, IDLE_MS + (index / CLIENTS) * SPREAD_MS));
      client.send(chatPost());
      const second = await client.until((received) => isWholeAnswer(received.slice(first.length)));
      client.destroy();
      return second.slice(first.length);
    }),
  );
  const statuses = new Map<string, number>();
  for (const answer of answers) statuses.set(answer.slice(9, 12), (statuses.get(answer.slice(9, 12)) ?? 0) + 1);
  assert.deepEqual([...statuses], [["200", CLIENTS]]);
  assert.match(answers.at(-1)!, /\r\nConnection: close\r\n/);
  assert.doesNotMatch(answers[0]!, /\r\nConnection: close\r\n/);
});
