/**
 * What the prefix index costs a decision, in microseconds: hash, longest match on every endpoint, admission to one.
 * `cold`: a prompt nobody holds, into full caches. `hit`: a conversation's next turn, held by one endpoint,
 * with its first 2 KB held by all.
 *
 *     node --import tsx tests/bench/prefix-index.ts     deno run -A tests/bench/prefix-index.ts     bun tests/bench/prefix-index.ts
 */
import { performance } from "node:perf_hooks";
import { PrefixIndex } from "../../core/state/prefix-index.ts";

const KEY = { api: "chat-completions", target: "food-review-v1", cacheSalt: "" };
const LENGTHS = [4_096, 65_536, 512_000];
const ENDPOINTS = [8, 100];
const SHARED_BYTES = 2_048;
const GROWTH_BYTES = 1_024;
const FILL_BYTES = 16_384;
/** Prompts per endpoint that fill its cache. */
const FILL_PROMPTS = 130;
const MEASURE_MS = 400;
const ROUNDS = 5;

const text = new Uint8Array(2_000_000);
for (let at = 0; at < text.length; at++) text[at] = 32 + ((Math.imul(at, 2_654_435_761) >>> 16) % 90);

let serial = 0;

/** A prompt of that length whose first bytes all prompts share; what follows is like no other. */
function makePrompt(bytes: number): Uint8Array {
  const prompt = text.slice(0, bytes);
  prompt.set(new TextEncoder().encode(`conversation ${serial++} `), SHARED_BYTES);
  return prompt;
}

function decide(index: PrefixIndex, endpoints: number, prompt: Uint8Array, bytes: number, slot: number): number {
  const prefix = index.match(KEY, prompt, [[0, bytes]], bytes / 4);
  let tokens = 0;
  for (let candidate = 0; candidate < endpoints; candidate++) tokens += prefix.matchedTokens(candidate);
  index.admit(prefix, slot);
  return tokens;
}

function filledIndex(endpoints: number): PrefixIndex {
  const index = new PrefixIndex({ blockBytes: 256, maxBytes: 64 * 2 ** 20 });
  for (let prompt = 0; prompt < FILL_PROMPTS * endpoints; prompt++) {
    decide(index, endpoints, makePrompt(FILL_BYTES), FILL_BYTES, prompt % endpoints);
  }
  return index;
}

/** The best round's microseconds per call; `prepare` makes the prompts outside the clock. */
function measure(prepare: () => Uint8Array, run: (prompt: Uint8Array) => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    let spent = 0;
    let calls = 0;
    for (const end = performance.now() + MEASURE_MS / ROUNDS; performance.now() < end; calls += 16) {
      const prompts = Array.from({ length: 16 }, prepare);
      const from = performance.now();
      for (const prompt of prompts) run(prompt);
      spent += performance.now() - from;
    }
    best = Math.min(best, (spent * 1_000) / calls);
  }
  return best;
}

console.log("bytes    endpoints  cold us  hit us");
for (const endpoints of ENDPOINTS) {
  for (const bytes of LENGTHS) {
    const index = filledIndex(endpoints);
    let slot = 0;
    const nextSlot = () => {
      slot = (slot + 1) % endpoints;
      return slot;
    };
    const cold = measure(
      () => makePrompt(bytes),
      (prompt) => decide(index, endpoints, prompt, bytes, nextSlot()),
    );
    const conversations = Array.from({ length: 64 }, () => makePrompt(bytes));
    for (const [number, prompt] of conversations.entries())
      decide(index, endpoints, prompt, bytes - GROWTH_BYTES, number % endpoints);
    let turn = 0;
    const hit = measure(
      () => conversations[turn++ % conversations.length]!,
      (prompt) => decide(index, endpoints, prompt, bytes, conversations.indexOf(prompt) % endpoints),
    );
    console.log(`${String(bytes).padEnd(9)}${String(endpoints).padEnd(11)}${cold.toFixed(2).padEnd(9)}${hit.toFixed(2)}`);
  }
}
