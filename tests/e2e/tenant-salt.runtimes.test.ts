/** Tenants share no prompts in caches: what replicas get, what they have cached, and what the router believes of it. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, describe, it } from "node:test";
import { startMockReplica } from "../../apps/lab/mock/replica.ts";
import { exchange, postBytes, readAnswer } from "../support/raw-client.ts";
import { startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";
import { answerOk, CHAT, setUp } from "../support/scripted-pool.ts";

const digest = (key: string) => createHash("sha256").update(key).digest("hex");
const entry = (name: string, tenant: string) => `{ name: ${name}, sha256: ${digest(`sk-${name}`)}, tenant: ${tenant} }`;
const keys = `keys: [${entry("a1", "a")}, ${entry("a2", "a")}, ${entry("b1", "b")}]`;
const ON = `  auth: { saltByTenant: true, ${keys} }\n  plugins: [{ type: prefix-cache }]\n`;
const OFF = ON.replace("true", "false");

async function send(router: TestRouter, key: string, body: string, path = CHAT): Promise<void> {
  const answer = await exchange(router.port, postBytes(path, body, `Authorization: Bearer sk-${key}\r\n`));
  assert.equal(readAnswer(answer).status, 200, answer);
}

describe("saltByTenant", () => {
  const PROMPT = '"messages":[{"role":"user","content":"hello"}]';

  it("gives each tenant a salt of its own, mixed with the client's, and changes nothing else of the body", async () => {
    const { router, replica } = await setUp([answerOk], { spec: ON });
    const bodies = [
      ["a1", `{"model":"m",${PROMPT},"seed":12345678901234567890}`],
      ["a2", `{"model":"m",${PROMPT},"seed":12345678901234567890}`],
      ["b1", `{"model":"m",${PROMPT},"seed":12345678901234567890}`],
      ["a1", `{"model":"m","cache_salt":"mine",${PROMPT}}`],
      ["a2", `{"cache_salt":"mine","model":"m",${PROMPT}}`],
      ["b1", `{"model":"m","cache_salt":"mine",${PROMPT}}`],
      ["a1", `{"model":"m","cache_salt":"other",${PROMPT}}`],
    ] as const;
    for (const [key, body] of bodies) await send(router, key, body);
    const sent = replica.requests.map(({ body }) => body.toString());
    const salts = sent.map((body) => (JSON.parse(body) as { cache_salt: string }).cache_salt);
    const [a1, a2, b1, mineA1, mineA2, mineB1, otherA1] = salts;
    for (const salt of salts) assert.match(salt, /^[\w-]{43}$/);
    assert.equal(a1, a2);
    assert.equal(mineA1, mineA2);
    assert.equal(new Set([a1, b1, mineA1, mineB1, otherA1]).size, 5);
    assert.equal(sent[0]!.replace(`"cache_salt":"${a1}",`, ""), bodies[0][1]);
    assert.equal(sent[4]!.replace(`"${mineA2}"`, '"mine"'), bodies[4][1]);
  });

  it("nobody can name the salt of another tenant", async () => {
    const { router, replica } = await setUp([answerOk], { spec: ON });
    await send(router, "a1", `{"model":"m",${PROMPT}}`);
    const { cache_salt: stolen } = JSON.parse(replica.requests[0]!.body.toString()) as { cache_salt: string };
    await send(router, "b1", `{"model":"m","cache_salt":"${stolen}",${PROMPT}}`);
    assert.ok(!replica.requests[1]!.body.includes(stolen));
  });

  it("off, bodies stay as they are", async () => {
    const { router, replica } = await setUp([answerOk], { spec: OFF });
    await send(router, "a1", `{"model":"m","cache_salt":"mine",${PROMPT}}`);
    assert.equal(replica.requests[0]!.body.toString(), `{"model":"m","cache_salt":"mine",${PROMPT}}`);
  });

  for (const path of [CHAT, "/v1/completions", "/v1/responses"]) {
    it(`what one tenant has asked at ${path} is cached for it alone, and the router knows`, async () => {
      const replica = await startMockReplica({ model: "m", timeScale: 0, replyTokens: 2 });
      const router = await startTestRouter([replica.url], { spec: ON.replace("plugins: [", "plugins: [{ type: access-log }, ") });
      after(async () => {
        await router.close();
        await replica.close();
      });
      const text = "A long story of soup. ".repeat(400);
      const prompt = {
        [CHAT]: { messages: [{ role: "user", content: text }] },
        "/v1/completions": { prompt: text },
        "/v1/responses": { input: text },
      }[path];
      const body = JSON.stringify({ model: "m", ...prompt });
      const seen: (readonly [string, boolean, boolean])[] = [];
      for (const key of ["a1", "b1", "a2", "b1"]) {
        await send(router, key, body, path);
        await waitUntil(() => router.log.length === seen.length + 1);
        const line = router.log.at(-1) as unknown as Record<string, number>;
        seen.push([key, line["cachedTokens"]! > 500, line["predictedCachedTokens"]! > 500]);
      }
      assert.deepEqual(seen, [
        ["a1", false, false],
        ["b1", false, false],
        ["a2", true, true],
        ["b1", true, true],
      ]);
    });
  }
});
