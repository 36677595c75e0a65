/**
 * What two real vLLM servers with small caches publish of them, and whether it is true:
 * `SIGNALBOX_VLLM=DIR node --import tsx --test tests/vllm/kv-events.vllm.ts`.
 */
import assert from "node:assert/strict";
import { after, before, describe, it, test } from "node:test";
import type { KvEventsStatus } from "../../plugins/features/kv-events/kv-events-status.ts";
import { type RealVllm, startVllm, vllmDir } from "../support/real-vllm.ts";
import { startTestRouter, type TestRouter, waitUntil } from "../support/router.ts";
import type { CacheLine } from "./cache-line.ts";
import { converse, type Turn } from "./conversation-load.ts";
import { shareGptTexts } from "./sharegpt.ts";

const PORTS = [8181, 8182] as const;
/** 9,600 tokens: room for three or four conversations. */
const CACHE = ["--num-gpu-blocks-override", "300"];
const SHAPE = { turns: 4, firstChars: 800, laterChars: 500, answerTokens: 32, users: 8, thinkMs: 300 };
const CONVERSATIONS = 24;
/** Of the prefix index: what is behind a prompt's last whole block is not predicted. The tiny model has about a token for each byte. */
const OWN_BLOCK_TOKENS = 256;
const ADAPTER = "food-review-v1";

const dir = vllmDir();
const texts = shareGptTexts();

if (dir === undefined) test("cache events of a real vLLM", (t) => t.skip("SIGNALBOX_VLLM names no folder with venv/bin/vllm"));
else if (texts === undefined) test("cache events of a real vLLM", (t) => t.skip("The ShareGPT trace is not here"));
else describe("cache events of real vLLM servers", () => events(dir, texts.slice(0, CONVERSATIONS)));

function events(vllm: string, chosen: readonly string[]): void {
  let servers: readonly RealVllm[] = [];
  let router: TestRouter;
  let own: readonly Turn[] = [];
  let followed: readonly Turn[] = [];

  const status = () => (router.router.features.status() as { readonly kvEvents: KvEventsStatus }).kvEvents;
  const sum = (of: (row: KvEventsStatus["replicas"][number]) => number) =>
    status().replicas.reduce((all, row) => all + of(row), 0);

  before(
    async () => {
      const started = await Promise.allSettled(PORTS.map((port) => startVllm({ dir: vllm, port, flags: flagsAt(port) })));
      servers = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      for (const one of started) if (one.status === "rejected") throw one.reason;
      own = await through("", "own");
      followed = await through("  kvEvents: {}\n", "events");
    },
    { timeout: 900_000 },
  );
  after(async () => {
    await router?.close();
    await Promise.all(servers.map((server) => server.stop()));
  });

  async function through(spec: string, salt: string): Promise<readonly Turn[]> {
    await router?.close();
    router = await startTestRouter(
      servers.map(({ url }) => url),
      { spec },
    );
    await waitUntil(() => router.router.pool.prefixStats !== undefined);
    if (spec !== "") await waitUntil(() => status().replicas.every(({ standing }) => standing === "believed"));
    const load = { ...SHAPE, texts: chosen, engineUrl: servers[0]!.url, salt, urlOf: () => router.url };
    const turns = await converse(load);
    await waitUntil(() => router.log.length >= turns.length);
    return turns;
  }

  it("promise what responses report, and cost no hits beyond what runs differ by", () => {
    const { replicas, prompts } = status();
    const lines = router.log as unknown as readonly CacheLine[];
    const apart = lines.reduce((all, line) => all + Math.abs(line.predictedCachedTokens - line.cachedTokens), 0);
    const [mine, theirs] = [own, followed].map(cachedShare);
    console.log(`cached: ${mine!.toFixed(4)} by the own index, ${theirs!.toFixed(4)} with events`);
    console.log(`predictions apart by ${((100 * apart) / cachedTokens(followed)).toFixed(1)} % of the cached tokens`);
    console.log(JSON.stringify(replicas));
    assert.deepEqual(
      replicas.map(({ standing }) => standing),
      ["believed", "believed"],
    );
    assert.equal(prompts.failed, 0);
    const wrong = sum(({ promises }) => promises.tooMuch + promises.tooLittle + promises.silent);
    const right = sum(({ promises }) => promises.right);
    assert.ok(right >= CONVERSATIONS && wrong <= right / 20, `${right} right, ${wrong} wrong`);
    assert.ok(theirs! >= 0.75 * mine!, `${theirs} of ${mine}`);
  });

  it("keep prompts of adapters, and without a salt, apart", async () => {
    const learned = status().prompts.learned;
    const prompt = chosen[0]!.slice(0, 1_200);
    for (const model of ["tiny", ADAPTER, "tiny", ADAPTER]) await ask(model, prompt);
    await waitUntil(() => status().prompts.learned >= learned + 2);
    const lines = router.log.slice(-4) as unknown as readonly CacheLine[];
    assert.deepEqual(
      lines.slice(0, 2).map(({ cachedTokens: cached }) => cached),
      [0, 0],
    );
    for (const { predictedCachedTokens: predicted, cachedTokens: cached } of lines.slice(2))
      assert.ok(cached > 0 && Math.abs(predicted - cached) <= OWN_BLOCK_TOKENS, `${predicted} predicted, ${cached} cached`);
    assert.equal(
      status().replicas.every(({ standing }) => standing === "believed"),
      true,
    );
  });

  it("are known to a router that starts later, as far as the engine keeps them", async () => {
    const blocks = sum((row) => row.blocks);
    await router.close();
    router = await startTestRouter(
      servers.map(({ url }) => url),
      { spec: "  kvEvents: {}\n" },
    );
    await waitUntil(() => status().replicas.every(({ standing }) => standing === "believed"));
    assert.ok(Math.abs(sum((row) => row.blocks) - blocks) <= 4, `${blocks} before`);
  });

  async function ask(model: string, prompt: string): Promise<void> {
    const lines = router.log.length;
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model, prompt, max_tokens: 2 }),
    };
    const response = await fetch(`${router.url}/v1/completions`, init);
    assert.equal(response.status, 200, await response.text());
    await waitUntil(() => router.log.length > lines);
  }
}

function flagsAt(port: number): readonly string[] {
  const config = {
    ...{ enable_kv_cache_events: true, publisher: "zmq", topic: "kv" },
    ...{ endpoint: `tcp://*:${port + 400}`, replay_endpoint: `tcp://*:${port + 500}` },
  };
  return [...CACHE, "--kv-events-config", JSON.stringify(config)];
}

const cachedTokens = (turns: readonly Turn[]) => turns.reduce((all, { cachedTokens: cached }) => all + cached, 0);
const cachedShare = (turns: readonly Turn[]) =>
  cachedTokens(turns) / turns.reduce((all, { promptTokens }) => all + promptTokens, 0);
