/** What a key can't get beyond its limits by, and what takes nothing of them. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { type AccessLine, startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";
import { jsonAnswer, type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";

const digest = (key: string) => createHash("sha256").update(key).digest("hex");
const entry = (name: string, more: string) => `{ name: ${name}, sha256: ${digest(`sk-${name}`)}, ${more} }`;
const PER_MINUTE = "limits: { tokensPerMinute: 1000 }";
const KEYS = [
  ...["capped", "known", "unknown", "slow", "broken"].map((name) => entry(name, PER_MINUTE)),
  entry("few", "models: [m], limits: { requestsPerMinute: 3 }"),
];
const spec = `  auth: { keys: [${KEYS.join(", ")}] }\n  limits: { responseTimeoutMs: 1000 }\n`;
const ANSWER = jsonAnswer(
  '{"choices":[{"index":0,"text":"x","finish_reason":"length"}],"usage":{"prompt_tokens":5,"completion_tokens":500}}',
);

describe("the limits of a key", () => {
  let replica: ScriptedReplica;
  let router: TestRouter;
  before(async () => {
    replica = await startScriptedReplica((request, socket) => {
      const text = request.body.toString();
      if (text.includes("never")) return;
      if (text.includes("bad")) socket.write("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}");
      else if (text.includes("dies")) socket.destroy();
      else socket.write(ANSWER);
    });
    router = await startTestRouter([replica.url], { spec });
  });
  after(async () => {
    await router?.close();
    await replica?.close();
  });

  async function ask(key: string, prompt: string, more: object = {}, path = "/v1/completions") {
    const response = await fetch(`${router.url}${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer sk-${key}` },
      body: JSON.stringify({ model: "m", prompt, ...more }),
    });
    await response.text();
    return response;
  }

  const servedOf60 = async (key: string, more?: object) => {
    const responses = await Promise.all(Array.from({ length: 60 }, () => ask(key, "hello", more)));
    return responses.filter(({ status }) => status === 200).length;
  };
  const left = ({ headers }: Response, what: string) => Number(headers.get(`x-ratelimit-remaining-${what}`));

  it("of tokens holds for requests at once, by the output that they ask for", async () => {
    assert.equal(await servedOf60("capped", { max_tokens: 500 }), 2);
  });

  it("of tokens holds for requests at once, by a guess and by what such requests took before", async () => {
    const served = await servedOf60("unknown");
    assert.ok(served >= 1 && served <= 4, `${served}`);
    assert.equal((await ask("known", "hello")).status, 200);
    assert.ok((await servedOf60("known")) <= 1);
  });

  it("of tokens is taken by the prompt of a request that timed out at a replica, and not by one that failed otherwise", async () => {
    const slow = await ask("slow", `never${"a".repeat(2000)}`, { max_tokens: 1 });
    assert.equal(slow.status, 504);
    const remaining = left(slow, "tokens");
    assert.equal((await ask("broken", `dies${"a".repeat(2000)}`, { max_tokens: 1 })).status, 502);
    const lines = router.log as readonly (AccessLine & { readonly key?: string })[];
    await waitUntil(() => lines.some(({ key }) => key === "broken"));
    const after = [await ask("slow", "hi", { max_tokens: 1 }), await ask("broken", "hi", { max_tokens: 1 })];
    assert.ok(remaining < 500 && left(after[0]!, "tokens") < 500, "the prompt's");
    assert.ok(left(after[1]!, "tokens") > 900, "none");
  });

  it("of requests is not taken by those that are refused", async () => {
    assert.equal((await ask("few", "hello", { model: "other" })).status, 403);
    assert.equal((await ask("few", "hello", {}, "/v1/nothing")).status, 404);
    assert.equal((await ask("few", "bad")).status, 404);
    assert.equal((await ask("few", "hello", { model: 5 })).status, 400);
    for (const remaining of [2, 1, 0]) assert.equal(left(await ask("few", "hello"), "requests"), remaining);
    for (let n = 0; n < 3; n++) assert.equal((await ask("few", "hello")).status, 429);
  });
});
