/**
 * Two real vLLM servers of different speed: the router learns which is which, and waiting for the first token becomes shorter than
 * with policies that don't know: `SIGNALBOX_VLLM=DIR node --import tsx --test tests/vllm/speeds.vllm.ts`.
 */
import assert from "node:assert/strict";
import { after, before, describe, it, test } from "node:test";
import { type RealVllm, startVllm, vllmDir } from "../support/real-vllm.ts";
import { startTestRouter, type TestRouter } from "../support/router.ts";
import { converse } from "./conversation-load.ts";
import { shareGptTexts } from "./sharegpt.ts";

/** The second server computes a prompt in pieces of 64 tokens, so it takes about four times as long for a long one. */
const SERVERS = [
  { port: 8191, flags: [] },
  { port: 8192, flags: ["--max-num-batched-tokens", "64"] },
] as const;
const SHAPE = { turns: 3, firstChars: 1800, laterChars: 600, answerTokens: 8, users: 6, thinkMs: 100 };
/** Each policy has its turn so many times, so that what else the machine does meets them all. */
const ROUNDS = 3;
const CONVERSATIONS = 16;

const POLICIES = [
  { name: "default", spec: "" },
  { name: "least-request", spec: "  profiles:\n    - { plugins: [ { pluginRef: active-request } ] }\n" },
  { name: "round-robin", spec: "  profiles:\n    - { plugins: [ { pluginRef: round-robin } ] }\n" },
] as const;

const dir = vllmDir();
const texts = shareGptTexts();

if (dir === undefined) test("speeds of real vLLMs", (t) => t.skip("SIGNALBOX_VLLM names no folder with venv/bin/vllm"));
else if (texts === undefined) test("speeds of real vLLMs", (t) => t.skip("The ShareGPT trace is not here"));
else describe("real vLLM servers of different speed", () => speeds(dir, texts));

function speeds(vllm: string, all: readonly string[]): void {
  let servers: readonly RealVllm[] = [];
  const routers = new Map<string, TestRouter>();
  const waits = new Map<string, number>();

  before(
    async () => {
      const started = await Promise.allSettled(SERVERS.map((server) => startVllm({ dir: vllm, ...server })));
      servers = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      for (const one of started) if (one.status === "rejected") throw one.reason;
      const urls = servers.map(({ url }) => url);
      for (const { name, spec } of POLICIES) routers.set(name, await startTestRouter(urls, { spec }));
      for (let round = 0; round < ROUNDS; round++) {
        for (const { name } of POLICIES) {
          const meanMs = await meanTtftMs(routers.get(name)!, urls[0]!, `${name} ${round}`, all);
          waits.set(name, (waits.get(name) ?? 0) + meanMs / ROUNDS);
          console.log(
            `round ${round + 1}, ${name.padEnd(14)} mean TTFT ${meanMs.toFixed(0)} ms, ${speedsOf(routers.get(name)!)}`,
          );
        }
      }
    },
    { timeout: 600_000 },
  );
  after(async () => {
    for (const router of routers.values()) await router.close();
    await Promise.all(servers.map((server) => server.stop()));
  });

  it("the router learns which one is slow", () => {
    const [fast, slow] = ratesOf(routers.get("default")!);
    assert.ok(fast! > 1.5 * slow!, `${fast} against ${slow} tokens/ms`);
  });

  it("the first token comes sooner than with policies that don't know speeds", () => {
    for (const [name, meanMs] of waits) console.log(`${name.padEnd(14)} mean TTFT ${meanMs.toFixed(0)} ms`);
    for (const name of ["least-request", "round-robin"]) assert.ok(waits.get("default")! < waits.get(name)!, name);
  });
}

async function meanTtftMs(router: TestRouter, engineUrl: string, salt: string, all: readonly string[]): Promise<number> {
  const texts = all.slice(0, CONVERSATIONS);
  const turns = await converse({ ...SHAPE, texts, engineUrl, salt, urlOf: () => router.url });
  return turns.reduce((sum, { ttftMs }) => sum + ttftMs, 0) / turns.length;
}

/** Prompt tokens per millisecond, in the order of SERVERS. */
function ratesOf({ router }: TestRouter): readonly number[] {
  return router.facts.endpoints.map(({ slot }) => router.load.prefillRate(slot));
}

function speedsOf(router: TestRouter): string {
  const rates = ratesOf(router).map((rate) => rate.toFixed(1));
  const requests = router.router.facts.endpoints.map(({ name }) => router.log.filter((line) => line.endpoint === name).length);
  return `learned ${rates.join(" and ")} tokens/ms, requests ${requests.join(" and ")}`;
}
