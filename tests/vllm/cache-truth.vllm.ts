/**
 * What the router believes of the replicas' caches beside what they say themselves, and what prefix-aware routing is worth:
 * `SIGNALBOX_VLLM=DIR node --import tsx --test tests/vllm/cache-truth.vllm.ts`. Two real vLLM servers with caches too small
 * for the conversations that are replayed.
 */
import assert from "node:assert/strict";
import { after, before, describe, it, test } from "node:test";
import { type RealVllm, startVllm, vllmDir } from "../support/real-vllm.ts";
import { startTestRouter, waitUntil } from "../support/router.ts";
import type { CacheLine } from "./cache-line.ts";
import { shareGptTexts } from "./sharegpt.ts";

const PORTS = [8151, 8152] as const;
/** 9,600 tokens: room for three or four conversations. */
const FLAGS = ["--num-gpu-blocks-override", "300"];
/** Conversations that go on at the same time. */
const USERS = 8;
const TURNS = 4;
/** The tiny model's tokenizer makes about one token of each character. */
const CHARS_PER_TURN = 800;

/** The profile that knows nothing of caches; its index is there all the same, to be compared. */
const ROUND_ROBIN = `  plugins:
    - { type: prefix-cache }
    - { type: round-robin }
  profiles:
    - { name: default, plugins: [ { pluginRef: round-robin } ] }
`;
const RUNS = [
  { name: "default", spec: "", hasNeighbour: false },
  { name: "round-robin", spec: ROUND_ROBIN, hasNeighbour: false },
  // Somebody beside the router asks the same servers.
  { name: "neighbour", spec: "", hasNeighbour: true },
] as const;
type Run = (typeof RUNS)[number];

interface Sums {
  readonly requests: number;
  readonly prompt: number;
  readonly predicted: number;
  readonly reported: number;
  readonly apart: number;
}

interface Message {
  readonly role: "user" | "assistant";
  readonly content: string;
}

const dir = vllmDir();
const texts = shareGptTexts();

if (dir === undefined) test("caches of a real vLLM", (t) => t.skip("SIGNALBOX_VLLM names no folder with venv/bin/vllm"));
else if (texts === undefined) test("caches of a real vLLM", (t) => t.skip("The ShareGPT trace is not here"));
else describe("caches of real vLLM servers", () => replays(dir, texts.map(messagesOf)));

function replays(vllm: string, all: readonly (readonly Message[])[]): void {
  let servers: RealVllm[] = [];
  const results = new Map<string, Sums>();

  before(
    async () => {
      const started = await Promise.allSettled(PORTS.map((port) => startVllm({ dir: vllm, port, flags: FLAGS })));
      servers = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      for (const one of started) if (one.status === "rejected") throw one.reason;
    },
    { timeout: 450_000 },
  );
  after(() => Promise.all(servers.map((server) => server.stop())));

  for (const run of RUNS) {
    const { name } = run;
    it(`${name}: what the router predicts beside what the engines report`, { timeout: 300_000 }, async () => {
      const lines = await replay(servers, run, all);
      results.set(name, sumOf(lines));
      for (const row of tableOf(lines)) console.log(`${name.padEnd(12)} ${row}`);
      const { prompt, predicted, reported, apart } = sumOf(lines);
      const ratio = predicted / reported;
      // Who else fills the caches is only known by what they report.
      assert.ok(ratio > 0.75 && ratio < (run.hasNeighbour ? 2 : 1.33), `${predicted} for ${reported}`);
      assert.ok(apart / prompt < (run.hasNeighbour ? 0.4 : 0.15), `Apart by ${apart} of ${prompt} tokens`);
    });
  }

  it("default routing hits far more of the caches than round-robin", () => {
    const [aware, blind] = [results.get("default"), results.get("round-robin")];
    if (aware === undefined || blind === undefined) throw new Error("A replay has no result");
    assert.ok(hitRatio(aware) > 1.3 * hitRatio(blind), `${hitRatio(aware)} against ${hitRatio(blind)}`);
  });
}

/** Every conversation from its first turn to its last, several at a time, through a router of its own. */
async function replay(servers: readonly RealVllm[], { name, spec, hasNeighbour }: Run, all: readonly (readonly Message[])[]) {
  const router = await startTestRouter(
    servers.map(({ url }) => url),
    { spec },
  );
  try {
    await waitUntil(() => router.router.pool.prefixStats !== undefined);
    const waiting = [...all];
    const play = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        for (let turn = 1; turn <= next.length; turn += 2) {
          await ask(router.url, next.slice(0, turn), name);
          if (hasNeighbour) await ask(servers[turn % 4 === 1 ? 0 : 1]!.url, next.slice(0, 3), `${turn} of a neighbour`);
        }
      }
    };
    await Promise.all(Array.from({ length: USERS }, play));
    return router.log as readonly CacheLine[];
  } finally {
    await router.close();
  }
}

async function ask(url: string, messages: readonly Message[], salt: string): Promise<void> {
  const body = { model: "tiny", messages, max_tokens: 4, temperature: 0, cache_salt: salt };
  // The neighbour's requests go to vLLM itself, whose HTTP server may close a kept connection just when the next one is sent.
  const headers = { "Content-Type": "application/json", Connection: "close" };
  const answer = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body: JSON.stringify(body) });
  assert.equal(answer.status, 200, await answer.text());
}

/** A text cut into turns of a person and a model. */
function messagesOf(text: string): readonly Message[] {
  const half = CHARS_PER_TURN / 2;
  const count = Math.min(2 * TURNS - 1, Math.ceil(text.length / half));
  return Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: text.slice(index * half, (index + 1) * half),
  }));
}

function tableOf(lines: readonly CacheLine[]): readonly string[] {
  const endpoints = [...new Set(lines.map(({ endpoint }) => endpoint))].sort();
  const rows = endpoints.map((endpoint) => rowOf(endpoint, sumOf(lines.filter((line) => line.endpoint === endpoint))));
  const quarter = Math.ceil(lines.length / 4);
  return [...rows, rowOf("last quarter", sumOf(lines.slice(-quarter))), rowOf("all", sumOf(lines))];
}

function rowOf(name: string, sums: Sums): string {
  const { requests, prompt, predicted, reported, apart } = sums;
  const hits = `${(100 * hitRatio(sums)).toFixed(1)} % hits`;
  return `${name.padEnd(16)} ${requests} requests, ${prompt} prompt tokens, predicted ${predicted}, reported ${reported} (${hits}), apart ${apart}`;
}

function sumOf(lines: readonly CacheLine[]): Sums {
  const sum = (read: (line: CacheLine) => number) => lines.reduce((total, line) => total + read(line), 0);
  return {
    requests: lines.length,
    prompt: sum(({ promptTokens }) => promptTokens),
    predicted: sum(({ predictedCachedTokens }) => predictedCachedTokens),
    reported: sum(({ cachedTokens }) => cachedTokens),
    apart: sum(({ predictedCachedTokens, cachedTokens }) => Math.abs(predictedCachedTokens - cachedTokens)),
  };
}

function hitRatio({ reported, prompt }: Sums): number {
  return reported / prompt;
}
