/**
 * Two real vLLM servers whose caches hold all conversations just so, or half of them, and conversations that take turns: how much of the
 * prompts is cached, by the engines' own count, with the router, in turn, and with each conversation pinned to one server:
 * `SIGNALBOX_VLLM=DIR npm run bench:vllm`.
 */
import assert from "node:assert/strict";
import { after, before, describe, it, test } from "node:test";
import { seededRandom } from "../../core/contract/test-kit.ts";
import { type RealVllm, startVllm, vllmDir } from "../support/real-vllm.ts";
import { startTestRouter } from "../support/router.ts";
import { alphabetTokens, ask, converse, type Message, pieceOf, type Turn } from "./conversation-load.ts";
import { shareGptTexts } from "./sharegpt.ts";

const PORTS = [8161, 8162] as const;
const CONVERSATIONS = 40;
const SHAPE = { turns: 4, firstChars: 800, laterChars: 500, answerTokens: 16 };
/** As startVllm sets it. */
const BLOCK_TOKENS = 32;
/** What all conversations are at their ends, in tokens of the tiny model: about one for each byte, and some around each message. */
const ALL_TOKENS = CONVERSATIONS * (SHAPE.firstChars + 3 * SHAPE.laterChars + 4 * (SHAPE.answerTokens + 40));
/** Of what one server gets if it gets half of all. */
const ROOMS = [1, 0.5];
const AT_ONCE = [4, 1];
const REPETITIONS = 3;
/** Three repetitions differ by some hundredths. */
const LEAST_OF_PINNED = 0.94;

const IN_TURN = "  profiles:\n    - { plugins: [ { pluginRef: round-robin } ] }\n";
const WAYS = [
  { name: "pinned", spec: undefined },
  { name: "default", spec: "" },
  { name: "with events", spec: "  kvEvents: {}\n" },
  { name: "round robin", spec: IN_TURN },
] as const;
const SMALL_WAYS = WAYS.filter(({ name }) => name !== "round robin");
/** 9,600 tokens in each server: three or four conversations. */
const SMALL_BLOCKS = 300;
/** Conversations that go on at the same time. */
const USERS = 8;
type Way = (typeof WAYS)[number];

const dir = vllmDir();
const texts = shareGptTexts();

if (dir === undefined) test("caches of real vLLMs", (t) => t.skip("SIGNALBOX_VLLM names no folder with venv/bin/vllm"));
else if (texts === undefined) test("caches of real vLLMs", (t) => t.skip("The ShareGPT trace is not here"));
else {
  const chosen = texts.slice(0, CONVERSATIONS);
  for (const room of ROOMS) describe(`caches with ${room} of the room`, () => caches(dir, chosen, room));
  describe("caches for a tenth of the conversations", () => smallCaches(dir, chosen));
}

function caches(vllm: string, chosen: readonly string[], room: number): void {
  const blocks = Math.round((room * ALL_TOKENS) / PORTS.length / BLOCK_TOKENS);
  const servers = serversOf(vllm, blocks);

  for (const atOnce of AT_ONCE) {
    it(`${atOnce} at a time`, async () => {
      const shares = new Map<string, number[]>(WAYS.map(({ name }) => [name, []]));
      for (let repetition = 0; repetition < REPETITIONS; repetition++) {
        // Whoever comes first finds other caches, so the order turns.
        for (const way of repetition % 2 === 0 ? WAYS : WAYS.toReversed()) {
          shares.get(way.name)!.push(await cachedShare(way, servers(), chosen, atOnce, repetition));
          console.log(`${room} of the room, ${atOnce} at a time, ${way.name}: ${shares.get(way.name)!.map(shown).join(", ")}`);
        }
      }
      const of = (name: Way["name"]) => mean(shares.get(name)!);
      for (const name of ["default", "with events"] as const)
        assert.ok(of(name) >= LEAST_OF_PINNED * of("pinned"), `${name}: ${shown(of(name))} of ${shown(of("pinned"))}`);
    });
  }
}

/** Conversations from their first turn to their last, several at a time, as people have them. */
function smallCaches(vllm: string, chosen: readonly string[]): void {
  const servers = serversOf(vllm, SMALL_BLOCKS);

  it(`${USERS} at a time`, async () => {
    const shares = new Map<string, number[]>(SMALL_WAYS.map(({ name }) => [name, []]));
    for (let repetition = 0; repetition < REPETITIONS; repetition++) {
      for (const { name, spec } of repetition % 2 === 0 ? SMALL_WAYS : SMALL_WAYS.toReversed()) {
        const urls = servers().map(({ url }) => url);
        const router = spec === undefined ? undefined : await startTestRouter(urls, { spec });
        const urlOf = (conversation: number) => router?.url ?? urls[conversation % urls.length]!;
        const load = { ...SHAPE, users: USERS, thinkMs: 300, texts: chosen, engineUrl: urls[0]!, salt: `${name} ${repetition}` };
        const turns = await converse({ ...load, urlOf }).finally(() => router?.close());
        const share = sumOf(turns, "cachedTokens") / sumOf(turns, "promptTokens");
        const waits = turns.map(({ ttftMs }) => ttftMs).sort((one, other) => one - other);
        const p99 = waits[Math.floor(0.99 * waits.length)]!;
        shares.get(name)!.push(share);
        console.log(`${name}: ${shown(share)} cached, first token ${mean(waits).toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`);
      }
    }
    const of = (name: string) => mean(shares.get(name)!);
    assert.ok(of("with events") >= 0.95 * of("pinned"), `${shown(of("with events"))} of ${shown(of("pinned"))}`);
  });
}

/** Every conversation's first turn, in any order, then every second one, and so on. What earlier runs left in the caches is evicted first. */
async function cachedShare(way: Way, servers: readonly RealVllm[], chosen: readonly string[], atOnce: number, seed: number) {
  const { name, spec } = way;
  const random = seededRandom(seed);
  const urls = servers.map(({ url }) => url);
  const router = spec === undefined ? undefined : await startTestRouter(urls, { spec });
  const urlOf = (conversation: number) => router?.url ?? urls[conversation % urls.length]!;
  const allowed = await alphabetTokens(urls[0]!);
  const histories: Message[][] = chosen.map(() => []);
  let prompt = 0;
  let cached = 0;
  try {
    for (let turn = 0; turn < SHAPE.turns; turn++) {
      const waiting = shuffled(chosen.length, random);
      const beOneUser = async () => {
        for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
          const messages = histories[at]!;
          messages.push({ role: "user", content: pieceOf(chosen[at]!, turn, SHAPE) });
          const asked = {
            url: urlOf(at),
            messages,
            answerTokens: SHAPE.answerTokens,
            salt: `${name} ${atOnce} ${seed}`,
            allowed,
          };
          const { answer, promptTokens, cachedTokens } = await ask(asked);
          messages.push({ role: "assistant", content: answer });
          prompt += promptTokens;
          cached += cachedTokens;
        }
      };
      await Promise.all(Array.from({ length: atOnce }, beOneUser));
    }
  } finally {
    await router?.close();
  }
  return cached / prompt;
}

const flagsAt = (port: number, blocks: number) => [
  ...["--num-gpu-blocks-override", String(blocks), "--kv-events-config"],
  JSON.stringify({
    ...{ enable_kv_cache_events: true, publisher: "zmq", topic: "kv" },
    ...{ endpoint: `tcp://*:${port + 100}`, replay_endpoint: `tcp://*:${port + 200}` },
  }),
];
/** Two that run before the tests of this group, until after them. */
function serversOf(vllm: string, blocks: number): () => readonly RealVllm[] {
  let servers: readonly RealVllm[] = [];
  before(
    async () => {
      const started = await Promise.allSettled(PORTS.map((port) => startVllm({ dir: vllm, port, flags: flagsAt(port, blocks) })));
      servers = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      for (const one of started) if (one.status === "rejected") throw one.reason;
    },
    { timeout: 600_000 },
  );
  after(() => Promise.all(servers.map((server) => server.stop())));
  return () => servers;
}

/** The numbers below `count` in any order. */
function shuffled(count: number, random: () => number): number[] {
  const places = Array.from({ length: count }, (_, number) => ({ number, place: random() }));
  return places.sort((one, other) => one.place - other.place).map(({ number }) => number);
}

const sumOf = (turns: readonly Turn[], field: "cachedTokens" | "promptTokens") =>
  turns.reduce((all, turn) => all + turn[field], 0);
const mean = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
const shown = (share: number) => share.toFixed(3);
