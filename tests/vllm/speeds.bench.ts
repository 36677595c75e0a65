/**
 * Two real vLLM servers of different speed: the router learns which is which, and waiting for the first token becomes shorter than
 * with policies that don't know: `SIGNALBOX_VLLM=DIR npm run bench:vllm`.
 */
import assert from "node:assert/strict";
import { after, before, describe, it, test } from "node:test";
import { type RealVllm, startVllm, vllmDir } from "../support/real-vllm.ts";
import { startTestRouter, type TestRouter } from "../support/router.ts";
import { converse } from "./conversation-load.ts";
import { shareGptTexts } from "./sharegpt.ts";
import { type SlowProxy, startSlowProxy } from "./slow-proxy.ts";

const PORTS = [8191, 8192] as const;
/** The second server computes prompts so many times more slowly, behind a proxy: threads of a busy machine give no steady ratio. */
const SLOWDOWN = 4;
/** Often a server is idle: where both are busy all the time, the number of requests in flight says as much as speeds do. */
const SHAPE = { turns: 2, firstChars: 2400, laterChars: 1200, answerTokens: 4, users: 3, thinkMs: 400 };
/** Each policy has its turn so many times, so that what else the machine does meets them all. */
const ROUNDS = 5;
/** The first ones are for learning. */
const UNCOUNTED = 2;
const CONVERSATIONS = 12;

/** A policy that goes on to a slow server is not helped out of it. */
const NO_EJECTION = "  ejection: false\n";
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
  let slow: SlowProxy | undefined;
  const routers = new Map<string, TestRouter>();
  const waits = new Map<string, number>();

  before(
    async () => {
      const started = await Promise.allSettled(PORTS.map((port) => startVllm({ dir: vllm, port })));
      servers = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      for (const one of started) if (one.status === "rejected") throw one.reason;
      slow = await startSlowProxy(servers[1]!.url, SLOWDOWN);
      const urls = [servers[0]!.url, slow.url];
      for (const { name, spec } of POLICIES) routers.set(name, await startTestRouter(urls, { spec: NO_EJECTION + spec }));
      for (let round = 0; round < ROUNDS; round++) {
        for (const { name } of POLICIES) {
          const meanMs = await meanTtftMs(routers.get(name)!, urls[0]!, `${name} ${round}`, all);
          if (round >= UNCOUNTED) waits.set(name, (waits.get(name) ?? 0) + meanMs / (ROUNDS - UNCOUNTED));
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
    await slow?.close();
    await Promise.all(servers.map((server) => server.stop()));
  });

  it("the router learns which one is slow", () => {
    const [fastRate, slowRate] = ratesOf(routers.get("default")!);
    assert.ok(fastRate! > 1.25 * slowRate!, `${fastRate} against ${slowRate} tokens/ms`);
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

/** Prompt tokens per millisecond, the fast server's first. */
function ratesOf({ router }: TestRouter): readonly number[] {
  return router.pool.facts.endpoints.map(({ slot }) => router.pool.load.prefillRate(slot, performance.now()));
}

function speedsOf(router: TestRouter): string {
  const rates = ratesOf(router).map((rate) => rate.toFixed(1));
  const requests = router.router.pool.facts.endpoints.map(
    ({ name }) => router.log.filter((line) => line.endpoint === name).length,
  );
  return `learned ${rates.join(" and ")} tokens/ms, requests ${requests.join(" and ")}`;
}
