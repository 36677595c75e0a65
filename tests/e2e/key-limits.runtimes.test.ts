/** What keys may use, seen with the real SDKs; what is counted of them, and who sees it. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, it } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { systemClock } from "../../core/contract/clock.ts";
import { askFor, startTestAdmin } from "../support/admin.ts";
import { startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";

const digest = (key: string) => createHash("sha256").update(key).digest("hex");
const entry = (name: string, limits: string) =>
  `{ name: ${name}, sha256: ${digest(`sk-${name}`)}, tenant: t, limits: { ${limits} } }`;
const NAMES = ["rate", "many", "tokens", "one", "abort"] as const;
const KEYS = [
  entry("rate", "requestsPerMinute: 2"),
  entry("many", "requestsPerMinute: 1000, tokensPerMinute: 1000000"),
  entry("tokens", "tokensPerMinute: 40"),
  entry("one", "concurrency: 1"),
  entry("abort", "tokensPerMinute: 100000"),
];
const spec = `  auth: { keys: [${KEYS.join(", ")}] }\n`;
const messages = [{ role: "user" as const, content: "Was the soup any good?" }];

/** The machine's clock, which a test can set forward. */
let aheadMs = 0;
const clock = { ...systemClock, now: () => systemClock.now() + aheadMs };

describe("limits of keys", () => {
  let replica: MockReplica;
  let router: TestRouter;
  before(async () => {
    replica = await startMockReplica({ model: "m", timeScale: 0, replyTokens: 30 });
    router = await startTestRouter([replica.url], { spec, clock });
  });
  after(async () => {
    await router.close();
    await replica.close();
  });

  const openai = (name: (typeof NAMES)[number], maxRetries = 0) =>
    new OpenAI({ baseURL: `${router.url}/v1`, apiKey: `sk-${name}`, maxRetries, logLevel: "off" });
  const anthropic = (name: (typeof NAMES)[number], maxRetries = 0) =>
    new Anthropic({ baseURL: router.url, apiKey: `sk-${name}`, maxRetries, logLevel: "off" });
  const chat = (client: OpenAI) => client.chat.completions.create({ model: "m", messages, max_tokens: 20 });

  it("requests per minute: the SDK of OpenAI sees a rate limit, waits as it is told, and is served", async () => {
    await Promise.all([chat(openai("rate")), chat(openai("rate"))]);
    await assert.rejects(chat(openai("rate")), (thrown: unknown) => {
      assert.ok(thrown instanceof OpenAI.RateLimitError);
      assert.deepEqual([thrown.code, thrown.type], ["rate_limit_exceeded", "rate_limit_error"]);
      assert.match(thrown.message, /limit of 2 requests per minute/);
      assert.ok(Number(thrown.headers.get("retry-after")) > 50);
      assert.equal(thrown.headers.get("x-ratelimit-limit-requests"), "2");
      assert.equal(thrown.headers.get("x-ratelimit-remaining-requests"), "0");
      return true;
    });
    const inSeconds = 61_000 - 1_000;
    aheadMs += inSeconds;
    const answer = await chat(openai("rate", 1));
    assert.equal(answer.choices.length, 1);
  });

  it("the SDK of Anthropic does, too", async () => {
    aheadMs += 120_000;
    const ask = (client: Anthropic) => client.messages.create({ model: "m", max_tokens: 20, messages });
    await Promise.all([ask(anthropic("rate")), ask(anthropic("rate"))]);
    await assert.rejects(ask(anthropic("rate")), (thrown: unknown) => {
      assert.ok(thrown instanceof Anthropic.RateLimitError);
      assert.equal(thrown.type, "rate_limit_error");
      assert.equal(thrown.headers.get("anthropic-ratelimit-requests-remaining"), "0");
      assert.match(thrown.headers.get("anthropic-ratelimit-requests-reset") ?? "", /^\d{4}-.*Z$/);
      return true;
    });
    aheadMs += 60_000;
    assert.equal((await ask(anthropic("rate", 1))).type, "message");
  });

  it("a wrong key is an authentication error to both, and is not tried again", async () => {
    const before = router.log.length;
    await assert.rejects(chat(openai("wrong" as "one", 2)), OpenAI.AuthenticationError);
    const ask = anthropic("wrong" as "one", 2).messages.create({ model: "m", max_tokens: 20, messages });
    await assert.rejects(ask, Anthropic.AuthenticationError);
    assert.equal(router.log.length - before, 2);
  });

  it("what is left is told with each response", async () => {
    const { response } = await openai("many").chat.completions.create({ model: "m", messages, max_tokens: 20 }).withResponse();
    assert.equal(response.headers.get("x-ratelimit-limit-requests"), "1000");
    assert.equal(response.headers.get("x-ratelimit-remaining-requests"), "999");
    assert.ok(Number(response.headers.get("x-ratelimit-remaining-tokens")) < 1_000_000);
  });

  it("tokens per minute: what the replica reports counts", async () => {
    const { usage } = await chat(openai("tokens"));
    assert.ok(usage!.total_tokens >= 20);
    let served = 1;
    while (served < 10) {
      const isServed = await chat(openai("tokens")).then(
        () => true,
        (thrown: unknown) => {
          assert.ok(thrown instanceof OpenAI.RateLimitError);
          assert.match(thrown.message, /limit of 40 tokens per minute/);
          return false;
        },
      );
      if (!isServed) break;
      served += 1;
    }
    assert.ok(
      served * usage!.total_tokens >= 40 && (served - 1) * usage!.total_tokens < 40,
      `${served} of ${usage!.total_tokens}`,
    );
  });

  it("requests at once: the next is served when the first has ended, also when its client leaves", async () => {
    await replica.faults.set("silentAfterEvents", 3);
    const stream = await openai("one").chat.completions.create({ model: "m", messages, stream: true });
    await assert.rejects(chat(openai("one")), /limit of 1 requests under way/);
    await replica.faults.clear();
    const next = chat(openai("one", 1));
    stream.controller.abort();
    await waitUntil(() => router.log.some(({ ending }) => ending === "client-left"));
    assert.equal((await next).choices.length, 1);
  });

  it("who asked is in the log, the explanation and the metrics, and the key in none of them", async () => {
    const { request_id: id } = await chat(openai("abort"))
      .asResponse()
      .then((response) => ({ request_id: response.headers.get("x-request-id") }));
    await waitUntil(() => router.log.some((line) => line.id === id));
    const line = router.log.find((each) => each.id === id) as unknown as Record<string, unknown>;
    assert.deepEqual([line["key"], line["tenant"]], ["abort", "t"]);
    const admin = await startTestAdmin(router.router);
    const [metrics, decisions] = await Promise.all(["/metrics", `/decisions?id=${id}`].map((path) => askFor(admin.port, path)));
    await admin.close();
    const value = (key: string, source: string) =>
      Number(
        new RegExp(`^signalbox_key_tokens_total\\{key="${key}",tenant="t",source="${source}"\\} (\\d+)$`, "m").exec(
          metrics!.body,
        )?.[1],
      );
    assert.ok(value("abort", "reported") >= 20);
    assert.equal(value("abort", "estimated"), 0);
    assert.ok(value("one", "estimated") > 0, "of the stream that broke off");
    const { principal } = (JSON.parse(decisions!.body) as { decisions: { principal: unknown }[] }).decisions[0]!;
    assert.deepEqual(principal, { name: "abort", tenant: "t" });
    assert.doesNotMatch(JSON.stringify([router.log, metrics, decisions]), /sk-|[0-9a-f]{64}/);
  });
});
