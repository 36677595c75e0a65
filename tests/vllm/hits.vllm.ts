/**
 * How many of the prefix-cache hits that conversations can have at all they have through the router, by the engines' own count:
 * `SIGNALBOX_VLLM=DIR node --import tsx --test tests/vllm/hits.vllm.ts`.
 */
import assert from "node:assert/strict";
import { after, before, describe, it, test } from "node:test";
import { type RealVllm, startVllm, vllmDir } from "../support/real-vllm.ts";
import { startTestRouter, waitUntil } from "../support/router.ts";
import type { CacheLine } from "./cache-line.ts";
import { type ConversationLoad, converse, type Turn } from "./conversation-load.ts";
import { shareGptTexts } from "./sharegpt.ts";

const PORTS = [8171, 8172] as const;
/** As startVllm sets it. */
const BLOCK_TOKENS = 32;
/** A long first message and short ones after it, as in chats with a system prompt. A letter is about a token. */
const SHAPE = { turns: 5, firstChars: 1500, laterChars: 150, answerTokens: 48, users: 6, thinkMs: 300 };
const CONVERSATIONS = 40;

const dir = vllmDir();
const texts = shareGptTexts();

if (dir === undefined) test("hits of a real vLLM", (t) => t.skip("SIGNALBOX_VLLM names no folder with venv/bin/vllm"));
else if (texts === undefined) test("hits of a real vLLM", (t) => t.skip("The ShareGPT trace is not here"));
else describe("prefix-cache hits of conversations on real vLLM servers", () => hits(dir, texts.slice(0, CONVERSATIONS)));

function hits(vllm: string, chosen: readonly string[]): void {
  let servers: readonly RealVllm[] = [];
  let pinned: readonly Turn[] = [];
  let routed: readonly Turn[] = [];
  let lines: readonly CacheLine[] = [];

  before(
    async () => {
      const started = await Promise.allSettled(PORTS.map((port) => startVllm({ dir: vllm, port })));
      servers = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      for (const one of started) if (one.status === "rejected") throw one.reason;
      const load = { ...SHAPE, texts: chosen, engineUrl: servers[0]!.url };
      pinned = await converse({ ...load, salt: "pinned", urlOf: (conversation) => servers[conversation % servers.length]!.url });
      ({ routed, lines } = await throughRouter(load, servers));
    },
    { timeout: 600_000 },
  );
  after(() => Promise.all(servers.map((server) => server.stop())));

  it("at least 0.98 of what conversations have that are each pinned to one server", () => {
    const ratio = cachedIn(routed) / cachedIn(pinned);
    const prompt = sum(routed.map(({ promptTokens }) => promptTokens));
    console.log(`${routed.length} turns, ${prompt} prompt tokens`);
    console.log(`cached: ${cachedIn(pinned)} pinned, ${cachedIn(routed)} through the router: ${ratio.toFixed(4)}`);
    assert.equal(routed.length, CONVERSATIONS * SHAPE.turns);
    assert.ok(ratio >= 0.98, String(ratio));
  });

  it("the engine has the generated text of earlier turns cached, in whole blocks", () => {
    let generated = 0;
    for (const turn of pinned) {
      const earlier = pinned.find((one) => one.conversation === turn.conversation && one.turn === turn.turn - 1);
      if (earlier === undefined) continue;
      const { promptTokens, outputTokens } = earlier;
      // The last token that was generated was never put in.
      assert.equal(turn.cachedTokens, wholeBlocks(promptTokens + outputTokens - 1));
      generated += turn.cachedTokens - wholeBlocks(promptTokens);
    }
    console.log(`generated text: ${generated} of ${cachedIn(pinned)} cached tokens when pinned`);
  });

  it("the router predicts what the engines report", () => {
    const errors = lines.map(({ predictedCachedTokens, cachedTokens }) => predictedCachedTokens - cachedTokens);
    const reported = sum(lines.map(({ cachedTokens }) => cachedTokens));
    const bias = sum(errors) / reported;
    const apart = sum(errors.map(Math.abs)) / reported;
    const typical = middle(errors.map(Math.abs));
    console.log(
      `predicted: median error ${typical} tokens, bias ${percent(bias)}, apart by ${percent(apart)} of the cached tokens`,
    );
    assert.ok(Math.abs(bias) < 0.1 && apart < 0.15, `bias ${bias}, apart ${apart}`);
  });
}

async function throughRouter(load: Omit<ConversationLoad, "salt" | "urlOf">, servers: readonly RealVllm[]) {
  const router = await startTestRouter(servers.map(({ url }) => url));
  try {
    await waitUntil(() => router.router.pool.prefixStats !== undefined);
    const routed = await converse({ ...load, salt: "routed", urlOf: () => router.url });
    await waitUntil(() => router.log.length >= routed.length);
    return { routed, lines: router.log as readonly CacheLine[] };
  } finally {
    await router.close();
  }
}

const cachedIn = (turns: readonly Turn[]) => sum(turns.map(({ cachedTokens }) => cachedTokens));
const wholeBlocks = (tokens: number) => tokens - (tokens % BLOCK_TOKENS);
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
const middle = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!;
const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
