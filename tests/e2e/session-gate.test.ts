/** The gate in front of full caches, seen from outside: who waits, what is shown of it, and what lets a waiting turn go on. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { startMockReplica } from "../../apps/lab/mock/replica.ts";
import type { SessionsStatus } from "../../plugins/features/sessions/sessions-status.ts";
import { loadTestConfig, startTestRouter, waitUntil } from "../support/router.ts";

const TIMEOUT = { timeout: 60_000 };
const GATE = "  sessions: { gate: true }\n  plugins: [{ type: access-log }]\n";
/** The cache has room for two such prompts. */
const PROMPT = "What an agent has read so far. ".repeat(400);
const CACHE_TOKENS = 8_192;
/** A turn that generates so much is under way until its client leaves. */
const MANY_TOKENS = 2_000;

/** A replica whose cache is full of two sessions, each with a turn under way, and the first turn of a third one. */
async function fullPool() {
  const replica = await startMockReplica({ model: "m", kvTokens: CACHE_TOKENS });
  const router = await startTestRouter([replica.url], { spec: GATE });
  const clients: AbortController[] = [];
  after(async () => {
    for (const client of clients) client.abort();
    await router.close();
    await replica.close();
  });
  const turn = (session: string, tokens: number) => {
    const client = new AbortController();
    clients.push(client);
    const messages = [{ role: "user", content: `${session}: ${PROMPT}` }];
    const answered = fetch(`${router.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "session-id": session },
      body: JSON.stringify({ model: "m", max_tokens: tokens, stream: true, messages }),
      signal: client.signal,
    });
    const text = answered.then((response) => response.text());
    // Of one that is aborted at the end nobody asks.
    text.catch(() => {});
    return { client, text, head: () => answered.then(({ status }) => status) };
  };
  const status = () => (router.router.features.status() as { readonly sessions: SessionsStatus }).sessions;
  await waitUntil(() => router.router.pool.load.cacheTokens[0]! > 0);
  for (const session of ["one", "two"]) await turn(session, 1).text;
  const busy = ["one", "two"].map((session) => turn(session, MANY_TOKENS));
  for (const { head } of busy) assert.equal(await head(), 200);
  const third = turn("three", 1);
  await waitUntil(() => status().waiting === 1);
  return { replica, router, third, status };
}

describe("the turn of a session for which no cache has room", () => {
  it("waits, and goes on when the config has no gate any more", TIMEOUT, async () => {
    const { replica, router, third, status } = await fullPool();
    assert.equal(status().underWay, 3);
    const spec = GATE.replace("{ gate: true }", "{}");
    router.router.replace(await loadTestConfig([replica.url], { spec }));
    assert.equal(await third.head(), 200);
    assert.match(await third.text, /\[DONE\]/);
    assert.equal(status().waiting, 0);
  });

  it("gets its answer when the last replica goes", TIMEOUT, async () => {
    const { replica, third, status } = await fullPool();
    await replica.close();
    assert.ok((await third.head()) >= 500);
    assert.equal(status().waiting, 0);
  });

  it("is waited for no more when its client leaves", TIMEOUT, async () => {
    const { third, status, router } = await fullPool();
    third.client.abort();
    await assert.rejects(third.text);
    await waitUntil(() => status().waiting === 0);
    await waitUntil(() => router.log.some(({ session, ending }) => session === "three" && ending === "client-left"));
  });
});
