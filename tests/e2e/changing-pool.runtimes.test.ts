import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { z } from "../../core/contract/options.ts";
import { type Definition, definePicker } from "../../core/contract/plugin.ts";
import { startBlackHole } from "../support/black-hole.ts";
import { exchange, openClient, postBytes, readAnswer } from "../support/raw-client.ts";
import { outstanding, startTestRouter, waitUntil } from "../support/router.ts";
import { answerOk, assertIdle, CHAT, chatPost, OK } from "../support/scripted-pool.ts";
import { type Script, startScriptedReplica } from "../support/scripted-replica.ts";
import { toldDiscovery } from "../support/told-discovery.ts";

const TOLD = "  plugins: [ { type: told } ]\n";

/** A router over what the test says is there, and replicas that end with the test. */
async function setUp(scripts: readonly Script[]) {
  const discovery = toldDiscovery();
  const replicas = await Promise.all(scripts.map((script) => startScriptedReplica(script)));
  const router = await startTestRouter([], { spec: TOLD, plugins: [discovery.definition] });
  after(async () => {
    await router.close();
    await Promise.all(replicas.map((replica) => replica.close()));
  });
  return { discovery, replicas, router };
}

describe("an endpoint that is replaced while a request is still being sent", () => {
  it("does not get it: the request goes by what is known at its end, and counts there only", { timeout: 30_000 }, async () => {
    let finish = () => {};
    const { discovery, replicas, router } = await setUp([
      answerOk,
      (_request, socket) => {
        finish = () => void socket.write(OK);
      },
    ]);
    const [old, fresh] = [replicas[0]!, replicas[1]!];
    const endpoint = () => router.router.pool.facts.endpoints[0]!;
    const body = `{"model":"m","messages":[{"role":"user","content":"${"once upon a time ".repeat(500)}"}]}`;
    const request = postBytes(CHAT, body, "Expect: 100-continue\r\n");
    const bodyStart = request.indexOf("\r\n\r\n") + 4;
    const half = bodyStart + (body.length >> 1);

    discovery.tell({ old: old.url });
    await waitUntil(() => endpoint().isAvailable);
    const { slot } = endpoint();
    // So that the prompt is believed to be in its cache.
    await exchange(router.port, postBytes(CHAT, body));

    const client = await openClient(router.port);
    client.send(request.slice(0, bodyStart));
    await client.until((text) => text.includes("100 Continue"));
    client.send(request.slice(bodyStart, half));
    discovery.tell({ fresh: fresh.url });
    await waitUntil(() => endpoint().isAvailable);
    assert.equal(endpoint().slot, slot, "the new one has the old one's place");
    client.send(request.slice(half));

    await waitUntil(() => fresh.requests.length === 1);
    assert.equal(router.router.pool.load.inFlight[slot], 1);
    const { prefillTokens } = outstanding(router.router);
    assert.ok(prefillTokens > 1_000, "it is not believed to hold what the old one held");
    finish();
    await client.until((text) => text.endsWith(OK.slice(OK.indexOf("\r\n\r\n"))));
    client.destroy();
    await assertIdle(router);

    const again = exchange(router.port, postBytes(CHAT, body));
    await waitUntil(() => fresh.requests.length === 2);
    assert.ok(outstanding(router.router).prefillTokens < prefillTokens / 10, "but what it was sent itself");
    finish();
    await again;
    await waitUntil(() => router.log.length === 3);
    assert.deepEqual(
      router.log.map(({ attempts }) => attempts.map(({ endpoint, result }) => `${endpoint} ${result}`)),
      [["old 200"], ["fresh 200"], ["fresh 200"]],
    );
    assert.equal(old.requests.length, 1);
    await assertIdle(router);
  });
});

/** Tries the endpoints by their names. */
const byName = definePicker({
  type: "by-name",
  summary: "In the order of their names.",
  options: z.strictObject({}),
  create: () => ({ pick: (candidates) => candidates.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }),
}) as Definition;

describe("an endpoint that leaves the pool while another one is connected to", () => {
  it("is passed over when its turn comes", { timeout: 30_000 }, async () => {
    const hole = await startBlackHole();
    const [gone, last] = await Promise.all([startScriptedReplica(answerOk), startScriptedReplica(answerOk)]);
    const urls = { "1-hole": hole.url, "2-gone": gone.url, "3-last": last.url };
    const discovery = toldDiscovery(urls);
    const router = await startTestRouter([], {
      spec: `${TOLD}  limits: { connectTimeoutMs: 500 }\n  profiles: [ { name: default, plugins: [ { pluginRef: by-name } ] } ]`,
      plugins: [discovery.definition, byName],
      ready: 3,
    });
    after(async () => {
      await router.close();
      await Promise.all([gone.close(), last.close()]);
      hole.close();
    });
    await hole.swallow();
    const answer = exchange(router.port, chatPost());
    await waitUntil(() => outstanding(router.router).inFlight === 1);
    const { "2-gone": _gone, ...left } = urls;
    discovery.tell(left);
    assert.equal(readAnswer(await answer).status, 200);
    await waitUntil(() => router.log.length === 1);
    assert.deepEqual(
      router.log[0]!.attempts.map(({ endpoint, result }) => `${endpoint} ${result}`),
      ["1-hole connect-timeout", "2-gone removed", "3-last 200"],
    );
    assert.equal(gone.requests.length, 0);
    await assertIdle(router);
  });
});
