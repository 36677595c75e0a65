/**
 * A kept connection that ends without a byte, and a replica that is gone then: it died of the request, so no other one gets it; unless
 * the replica closes connections that have been idle for so long, as it says or as it did before.
 */
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { describe, it } from "node:test";
import { exchange, readAnswer } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { answerOk, assertIdle, chatPost, OK } from "../support/scripted-pool.ts";
import type { Script } from "../support/scripted-replica.ts";
import { setUpUsual } from "../support/usual-pool.ts";

/** The router itself keeps connections for longer than the replicas. */
const SPEC =
  "  profiles: [ { plugins: [ { pluginRef: round-robin } ] } ]\n  limits: { upstreamIdleTimeoutMs: 60000 }\n  retries: { backoffMs: 0 }\n";
const LAST = "X-Last: yes\r\n";

interface Row {
  readonly name: string;
  /** Its Keep-Alive header. */
  readonly said: string;
  /** So often it has closed a connection that had been idle for six seconds. */
  readonly closed: number;
  readonly idleS: number;
  readonly isServed: boolean;
}

const rows: readonly Row[] = [
  { name: "that was idle for longer than the replica says", said: "timeout=5", closed: 0, idleS: 6, isServed: true },
  { name: "that was idle for a shorter time", said: "timeout=5", closed: 0, idleS: 2, isServed: false },
  { name: "of a replica that says nothing", said: "", closed: 0, idleS: 6, isServed: false },
  {
    name: "of a replica that says nothing, and closed two that had been idle for as long",
    said: "",
    closed: 2,
    idleS: 6,
    isServed: true,
  },
  { name: "of one that closed a single one", said: "", closed: 1, idleS: 6, isServed: false },
  { name: "that was idle for a shorter time than those that it closed", said: "", closed: 2, idleS: 3, isServed: false },
];

describe("a kept connection that ends under a request, with its replica", () => {
  for (const { name, said, closed, idleS, isServed } of rows)
    it(`${name}: ${isServed ? "another one answers" : "no other one gets it"}`, { timeout: 60_000 }, async () => {
      const answer = said === "" ? OK : OK.replace("\r\n", `\r\nKeep-Alive: ${said}\r\n`);
      let kept: Socket | undefined;
      const first: Script = (request, socket) => {
        kept = socket;
        if (!request.headers.has("x-last")) return void socket.write(answer);
        void replicas[0]!.refuse();
        for (const each of replicas[0]!.sockets) each.resetAndDestroy();
      };
      const { router, replicas, pass, received } = await setUpUsual([first, answerOk], SPEC);
      /** The first replica has answered, and the next request goes to it. */
      const turnToFirst = async () => {
        const [before] = received();
        for (let previous = -1; received()[0] === before || received()[1] === previous; ) {
          previous = received()[1]!;
          await exchange(router.port, chatPost());
        }
      };
      // What it says is read on new connections.
      for (const socket of replicas[0]!.sockets) socket.end();
      await waitUntil(() => replicas[0]!.sockets.size === 0);
      for (let n = 0; n < closed; n++) {
        await turnToFirst();
        await pass(6);
        kept!.end();
        await waitUntil(() => !replicas[0]!.sockets.has(kept!));
      }
      await turnToFirst();
      await pass(idleS);
      const [inFirst, inSecond] = received();
      const { status } = readAnswer(await exchange(router.port, chatPost("", LAST)));
      assert.deepEqual([status, received()], isServed ? [200, [inFirst! + 1, inSecond! + 1]] : [502, [inFirst! + 1, inSecond]]);
      await waitUntil(() => router.log.some(({ attempts }) => attempts[0]?.result === "stale"));
      await assertIdle(router);
    });
});
