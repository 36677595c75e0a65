import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { exchange, openClient, postBytes, readAnswer } from "../support/raw-client.ts";
import type { TestRouter } from "../support/router.ts";
import { answerOk, assertIdle, CHAT, chatBody, chatPost, OK, setUp } from "../support/scripted-pool.ts";
import type { Script, ScriptedReplica } from "../support/scripted-replica.ts";

const RESPONSES = "/v1/responses";
const stored = (lines = "") => postBytes(RESPONSES, '{"model":"m","input":"x"}', lines);
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Sends `count` requests one after the other on one connection, `pauseMs` apart, each under an id of its own. */
async function sendInTurn(port: number, name: string, count: number, pauseMs: number): Promise<void> {
  const client = await openClient(port);
  let seen = 0;
  for (let i = 0; i < count; i++) {
    client.send(chatPost("", `X-Request-Id: ${name}-${i}\r\n`));
    const received = await client.until((text) => text.endsWith('"model":"m"}') && text.length > seen);
    assert.match(received.slice(seen), /^HTTP\/1.1 200 /, `${name}-${i}`);
    seen = received.length;
    if (pauseMs > 0) await sleep(pauseMs);
  }
  client.destroy();
}

/** How often each request reached a replica, by its id. */
function deliveries(replicas: readonly ScriptedReplica[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { requests } of replicas) {
    for (const { headers } of requests) {
      const id = headers.get("x-request-id") ?? "";
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
  }
  return counts;
}

/** No request was delivered more often than the router says it tried. */
function assertCounted(router: TestRouter, replicas: readonly ScriptedReplica[]): void {
  const counts = deliveries(replicas);
  for (const { id, attempts } of router.log) {
    const delivered = counts.get(id) ?? 0;
    assert.ok(delivered >= 1 && delivered <= attempts.length, `${id}: ${delivered} deliveries, ${attempts.length} attempts`);
  }
}

describe("kept-alive connections that the replica closes", () => {
  it("lose nothing over 10,000 requests at the worst timing", { timeout: 120_000 }, async () => {
    let closeAfterMs = 0;
    const { router, replicas } = await setUp([
      (_request, socket) => {
        socket.write(OK);
        if (closeAfterMs === 0) socket.end();
        else setTimeout(() => socket.end(), closeAfterMs);
      },
    ]);
    const clients = Array.from({ length: 40 }, (_, n) => n);
    for (const delayMs of [0, 1, 2, 5, 20]) {
      closeAfterMs = delayMs;
      await Promise.all(clients.map((n) => sendInTurn(router.port, `d${delayMs}-${n}`, 50, delayMs)));
    }
    assert.equal(router.log.length, 10_000);
    assertCounted(router, replicas);
    await assertIdle(router);
  });

  it("that are reset under a second request cost one more delivery on a fresh one, and it is counted", async () => {
    const { router, replica } = await setUp([
      (request, socket) => void (request.indexOnConnection > 0 ? socket.resetAndDestroy() : socket.write(OK)),
    ]);
    await sendInTurn(router.port, "r", 200, 0);
    const stale = router.log.filter(({ attempts }) => attempts[0]?.result === "stale");
    assert.ok(stale.length > 0);
    assert.equal(replica.requests.length, 200 + stale.length);
    assertCounted(router, [replica]);
  });

  it("that are reset by a replica which resets whatever comes lose nothing either: it gets the request again, on a fresh one", async () => {
    const resetsReused: Script = (request, socket) =>
      void (request.indexOnConnection > 0 ? socket.resetAndDestroy() : socket.write(OK));
    const { router, replicas } = await setUp([resetsReused, answerOk, answerOk], {
      spec: "  profiles: [ { plugins: [ { pluginRef: round-robin } ] } ]\n  retries: { budgetLeast: 1000 }\n",
    });
    await sendInTurn(router.port, "o", 200, 0);
    const stale = router.log.filter(({ attempts }) => attempts[0]?.result === "stale");
    assert.ok(stale.length > 10);
    for (const { attempts } of stale) {
      assert.deepEqual(
        attempts.map(({ result }) => result),
        ["stale", 200],
      );
      assert.equal(attempts[0]?.endpoint, attempts[1]?.endpoint);
    }
    assertCounted(router, replicas);
    await assertIdle(router);
  });

  it("are not used for what must not be delivered twice", async () => {
    const { router, replica } = await setUp([
      (request, socket) => void (request.indexOnConnection > 0 ? socket.resetAndDestroy() : socket.write(OK)),
    ]);
    for (let i = 0; i < 100; i++) {
      // One in between, so that there is a kept connection to be tempted by.
      await exchange(router.port, chatPost());
      assert.equal(readAnswer(await exchange(router.port, stored(`X-Request-Id: s-${i}\r\n`))).status, 200);
    }
    const counts = deliveries([replica]);
    for (let i = 0; i < 100; i++) assert.equal(counts.get(`s-${i}`), 1);
  });

  it("a fresh connection that is reset under the whole request is 502 and exactly one delivery, every time", async () => {
    const reset = (_request: unknown, socket: { resetAndDestroy(): void }) => socket.resetAndDestroy();
    const { router, replicas } = await setUp([reset, reset]);
    for (let i = 0; i < 100; i++) {
      const path = i % 2 === 0 ? postBytes(CHAT, chatBody(), `X-Request-Id: f-${i}\r\n`) : stored(`X-Request-Id: f-${i}\r\n`);
      const answer = readAnswer(await exchange(router.port, path));
      assert.equal(answer.status, 502);
      assert.equal((answer.json["error"] as { code: string }).code, "upstream_reset");
    }
    const counts = deliveries(replicas);
    for (let i = 0; i < 100; i++) assert.equal(counts.get(`f-${i}`), 1);
    await assertIdle(router);
  });
});
