import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { exchange, readAnswer } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { assertIdle, chatPost, OK, setUp } from "../support/scripted-pool.ts";
import type { ScriptedReplica } from "../support/scripted-replica.ts";

const REPLICAS = 5;
const DEADLY = "X-Deadly: yes\r\n";

/** What a replica does with the one request that it can't survive. */
type Death = (replica: ScriptedReplica) => void;
const crash: Death = (replica) => {
  void replica.refuse();
  for (const socket of replica.sockets) socket.destroy();
};
const restart: Death = (replica) => {
  for (const socket of replica.sockets) socket.resetAndDestroy();
};

function later(die: Death): Death {
  return (replica) => void setTimeout(() => die(replica), 700);
}

const rows: readonly (readonly [name: string, die: Death, retries: string, deliveries: readonly number[]])[] = [
  ["ends its process at once: one replica gets it", crash, "{}", [1]],
  ["ends its process at once, and it is up again: one replica gets it", restart, "{}", [2]],
  ["ends its process after a while: one replica gets it", later(crash), "{}", [1]],
  ["ends its process after a while, and it is up again: one replica gets it", later(restart), "{}", [2]],
  ["ends its process at once, without a second try: one replica gets it", restart, "{ stale: false }", [1]],
];

describe("a request that no replica survives", () => {
  for (const [name, die, retries, deliveries] of rows) {
    it(`${name}, and its client is told not to send it again`, { timeout: 30_000 }, async () => {
      const { router, replicas } = await setUp(
        Array.from({ length: REPLICAS }, (_, i) => (request, socket) => {
          if (request.headers.has("x-deadly")) die(replicas[i]!);
          else socket.write(OK);
        }),
        { spec: `  retries: ${retries}\n  profiles: [ { name: default, plugins: [ { pluginRef: round-robin } ] } ]` },
      );
      // So that the router has a connection to each of them.
      for (let i = 0; i < REPLICAS; i++) await exchange(router.port, chatPost());
      assert.deepEqual(
        replicas.map(({ requests }) => requests.length),
        replicas.map(() => 1),
      );

      const answer = readAnswer(await exchange(router.port, chatPost("", DEADLY)));
      assert.equal(answer.status, 502);
      assert.equal((answer.json["error"] as { code: string }).code, "upstream_reset");
      assert.match(answer.head, /^x-should-retry: false$/im);

      await waitUntil(() => router.log.length === REPLICAS + 1);
      assert.equal(new Set(router.log.at(-1)!.attempts.map(({ endpoint }) => endpoint)).size, 1);
      const counts = replicas.map(({ requests }) => requests.filter(({ headers }) => headers.has("x-deadly")).length);
      assert.deepEqual(
        counts.filter((count) => count > 0),
        deliveries,
      );
      for (let i = 0; i < REPLICAS; i++) assert.equal(readAnswer(await exchange(router.port, chatPost())).status, 200);
      await assertIdle(router);
    });
  }
});
