/** Prints what scanning a body costs on the runtime it is run with: `node --import tsx tests/bench/body-scan.ts`. */
import { JsonBody } from "../../core/body/json-body.ts";
import { BodyScanner } from "../../core/body/scan.ts";

const KEYS = ["model", "stream", "messages", "max_tokens", "max_completion_tokens", "tools", "cache_salt"];
const CHUNK_BYTES = 64 * 1024;
const PLAIN = "It is a truth universally acknowledged, that a model in possession of a good prompt must be in want of cache. ";
const CJK = "信号所決定列車走哪一條軌道，路由器決定請求去哪一個副本。";

interface Case {
  readonly name: string;
  readonly body: Uint8Array;
}

function chat(content: string): Uint8Array {
  const messages = [{ role: "user", content }];
  return new TextEncoder().encode(JSON.stringify({ model: "food-review", stream: true, max_tokens: 100, messages }));
}

function repeat(text: string, bytes: number): string {
  return text.repeat(Math.ceil(bytes / new TextEncoder().encode(text).length));
}

/** Short turns, as many as fill the size: structure rather than text. */
function turns(bytes: number): Uint8Array {
  const messages = Array.from({ length: Math.ceil(bytes / 68) }, (_, n) => ({
    role: n % 2 ? "user" : "assistant",
    content: "Yes, and then what came next?",
  }));
  return new TextEncoder().encode(JSON.stringify({ model: "food-review", messages }));
}

function tokenIds(bytes: number): Uint8Array {
  const ids = Array.from({ length: bytes / 6 }, (_, n) => 10_000 + ((n * 7919) % 90_000));
  return new TextEncoder().encode(JSON.stringify({ model: "food-review", token_ids: ids }));
}

const MB = 1024 * 1024;
const cases: readonly Case[] = [
  { name: "1 KB plain", body: chat(repeat(PLAIN, 1024).slice(0, 900)) },
  { name: "16 KB plain", body: chat(repeat(PLAIN, 16 * 1024)) },
  { name: "1 MB plain", body: chat(repeat(PLAIN, MB)) },
  { name: "1 MB \\n each 48", body: chat(repeat(`${PLAIN.slice(0, 46)}\n`, MB)) },
  { name: '1 MB \\" each 48', body: chat(repeat(`${PLAIN.slice(0, 46)}"`, MB)) },
  { name: "1 MB CJK", body: chat(repeat(CJK, MB)) },
  { name: "1 MB CJK as \\u", body: escaped(chat(repeat(CJK, MB / 2))) },
  { name: "1 MB short turns", body: turns(MB) },
  { name: "1 MB token ids", body: tokenIds(MB) },
];

function escaped(body: Uint8Array): Uint8Array {
  const text = new TextDecoder()
    .decode(body)
    .replace(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return new TextEncoder().encode(text);
}

function scan(body: Uint8Array): string | undefined {
  const scanner = new BodyScanner(KEYS, 256, ["messages"]);
  for (let end = CHUNK_BYTES; end < body.length; end += CHUNK_BYTES) scanner.push(body, end);
  scanner.finish(body, body.length);
  return new JsonBody(body, body.length, scanner).text("model");
}

/** Best of several rounds, so that the machine's other work counts least. */
function measureNs(body: Uint8Array): number {
  const repeats = Math.max(3, Math.ceil((2 * MB) / body.length));
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 40; round++) {
    const begin = performance.now();
    for (let n = 0; n < repeats; n++) if (scan(body) !== "food-review") throw new Error("wrong model");
    best = Math.min(best, ((performance.now() - begin) * 1e6) / repeats);
  }
  return best;
}

for (const { body } of cases) measureNs(body);
for (const { name, body } of cases) {
  const ns = measureNs(body);
  console.log(
    `${name.padEnd(18)} ${(ns / 1000).toFixed(1).padStart(8)} us ${((ns / body.length) * 1.048576).toFixed(2).padStart(6)} ms/MB`,
  );
}
