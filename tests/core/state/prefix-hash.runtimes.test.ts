import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { Span } from "../../../core/contract/span.ts";
import { promptBytes } from "../../../core/state/hashed-prompt.ts";
import { blockEnds, wholeBlocks } from "../../../core/state/prefix-blocks.ts";
import { PrefixHasher, type PrefixKey } from "../../../core/state/prefix-hash.ts";
import { seededRandom } from "../../support/endpoints.ts";

const SECRET = [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0];
const KEY: PrefixKey = { api: "chat-completions", target: "food-review-v1", cacheSalt: "" };
const ENDS = blockEnds(32, 100_000);
const BLOCK = Int32Array.of(64);

const hasher = new PrefixHasher(SECRET);

function hash(body: Uint8Array, spans: readonly Span[] = [[0, body.length]], key = KEY, of = hasher): readonly number[] {
  return of.hash(key, body, spans, ENDS, wholeBlocks(ENDS, promptBytes(spans)));
}

const utf8 = (text: string) => new TextEncoder().encode(text);
const hex = (words: readonly number[]) => [...words].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join(" ");

const WORD = 2n ** 64n - 1n;
/** The factors of each lane and each sum at the end of a block. */
const LANE_ODDS = [0x9e3779b185ebca87n, 0xc2b2ae3d27d4eb4fn, 0x165667b19e3779f9n, 0x85ebca77c2b2ae63n] as const;
const SUM_ODDS = [0x27d4eb2f165667c5n, 0xff51afd7ed558ccdn, 0xc4ceb9fe1a85ec53n, 0xd6e8feb86659fd93n] as const;

/** The same function over one flat array of bytes, word by word. */
function plainHash(key: PrefixKey, prompt: readonly number[], ends: readonly number[]): number[] {
  const rotate = (value: bigint, bits: bigint) => ((value << bits) | (value >> (64n - bits))) & WORD;
  const scramble = (value: bigint, odd: bigint) => ((value ^ (value >> 32n)) * odd) & WORD;
  const join = (low: number, high: number) => BigInt(low >>> 0) | (BigInt(high >>> 0) << 32n);
  const odd = join(0x85ebca87 ^ (SECRET[4]! & 0x33cc33cc), 0x9e3779b1 ^ (SECRET[5]! & 0x33cc33cc));
  const lanes = [0, 1, 2, 3].map((lane) => ({ value: join(SECRET[lane]!, SECRET[(lane + 1) % 4]!), sum: 0n }));
  const take = (word: bigint) => {
    const lane = lanes.shift()!;
    lane.value = ((rotate(lane.value, 29n) ^ word) * odd) & WORD;
    lane.sum = (rotate(lane.sum, 23n) + lane.value) & WORD;
    lanes.push(lane);
  };
  const takeBytes = (bytes: readonly number[]) => {
    for (let at = 0; at < bytes.length; at += 8)
      take(bytes.slice(at, at + 8).reduceRight((word, byte) => (word << 8n) | BigInt(byte), 0n));
  };
  for (const text of [key.api, key.target, key.cacheSalt]) {
    const units = [text.length, 0, ...Array.from(text, (char) => char.charCodeAt(0))];
    while (units.length % 4 !== 0) units.push(0);
    takeBytes(units.flatMap((unit) => [unit & 0xff, unit >> 8]));
  }
  const hashes: number[] = [];
  let start = 0;
  for (const end of ends) {
    takeBytes(prompt.slice(start, end));
    start = end;
    let hash = 0n;
    for (const [index, { value, sum }] of lanes.entries()) {
      hash += rotate(scramble(value, LANE_ODDS[index]!), BigInt(7 + 11 * index)) + scramble(sum, SUM_ODDS[index]!);
    }
    hash &= WORD;
    hash = ((hash ^ (hash >> 29n)) * 0xbf58476d1ce4e5b9n) & WORD;
    hash ^= hash >> 32n;
    hashes.push(Number(BigInt.asIntN(32, hash)), Number(BigInt.asIntN(32, hash >> 32n)));
  }
  return hashes;
}

describe("hashes of a prompt", () => {
  const vectors: readonly [name: string, body: Uint8Array, hashes: string][] = [
    ["zeros", new Uint8Array(64), "1a2a0b31 69eda5d6 0eca5ab5 7178f2ea"],
    ["English", utf8("The quick brown fox jumps over the lazy dog."), "21a39135 b9503e81"],
    ["Chinese", utf8("敏捷的棕色狐狸跳过懒狗,然后又跳了回来。"), "8c8548c2 67478c1d"],
    ["emoji", utf8("🦊🐕🦊🐕🦊🐕🦊🐕🦊🐕"), "45a41cc1 1f976793"],
  ];
  for (const [name, body, expected] of vectors) {
    test(`are the same on every runtime: ${name}`, () => assert.equal(hex(hash(body)), expected));
  }

  test("depend on the content of the spans, not on their place or alignment", () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 12 });
    fc.assert(
      fc.property(pieces, fc.nat({ max: 9 }), (all, gap) => {
        const parts: number[] = [];
        const spans: Span[] = [];
        for (const piece of all) {
          for (let skip = 0; skip <= gap; skip++) parts.push(255);
          spans.push([parts.length, parts.length + piece.length]);
          parts.push(...piece);
        }
        const flat = all.flatMap((piece, index) => (index === 0 ? [...piece] : [0, ...piece]));
        const room = new Uint8Array(parts.length + 3);
        room.set(parts, 3);
        const ends = [...ENDS].filter((end) => end <= flat.length);
        assert.deepEqual([...hash(room.subarray(3), spans)], plainHash(KEY, flat, ends));
      }),
      { numRuns: 200 },
    );
  });

  test("of a prompt's beginning are the first hashes of the prompt", () => {
    const body = utf8("All work and no play makes Jack a dull boy. ".repeat(60));
    const whole = hash(body);
    for (let end = 0; end < body.length; end += 13) {
      const part = hash(body, [[0, end]]);
      assert.deepEqual(part, whole.slice(0, part.length));
    }
  });

  test("of prompts longer than the module's memory are the same as of one piece", () => {
    const body = Uint8Array.from({ length: 70_000 }, (_, at) => (at * at * 31) >>> 7);
    for (const cut of [1, 32_000, 32_680, 32_700, 32_768, 40_000, 65_400]) {
      const flat = [...body.subarray(0, cut), 0, ...body.subarray(cut)];
      const expected = plainHash(
        KEY,
        flat,
        [...ENDS].filter((end) => end <= flat.length),
      );
      const spans: Span[] = [
        [0, cut],
        [cut, body.length],
      ];
      assert.deepEqual([...hash(body, spans)], expected);
    }
  });

  test("of two indexes use each one's own blocks and secret", () => {
    const body = utf8("All work and no play makes Jack a dull boy. ".repeat(20));
    const other = new PrefixHasher(SECRET.map((word) => word ^ 1));
    const expected = [hash(body), hash(body, [[0, body.length]], KEY, other)];
    const long = hasher.hash(KEY, body, [[0, body.length]], BLOCK, 1);
    assert.deepEqual(long, hash(body).slice(2, 4));
    assert.deepEqual([hash(body), hash(body, [[0, body.length]], KEY, other)], expected);
    assert.notDeepEqual(expected[0], expected[1]);
  });

  test("change when a span boundary moves", () => {
    const body = utf8("a".repeat(200));
    const cuts = [0, 10, 11, 64, 100].map((cut) =>
      hex(
        hash(body, [
          [0, cut],
          [cut, 200],
        ]).slice(-2),
      ),
    );
    assert.equal(new Set(cuts).size, cuts.length);
  });

  test("depend on each part of the key, on where it ends, and on the secret", () => {
    const body = utf8("x".repeat(64));
    const keys: PrefixKey[] = [
      KEY,
      { ...KEY, api: "completions" },
      { ...KEY, target: "food-review-v2" },
      { ...KEY, target: "food-review-v1\0" },
      { ...KEY, cacheSalt: "\0" },
      { ...KEY, cacheSalt: "tenant" },
      { api: "chat-completionsf", target: "ood-review-v1", cacheSalt: "" },
      { api: "chat-completions", target: "food-review-v", cacheSalt: "1" },
      { api: "chat-completions", target: "", cacheSalt: "food-review-v1" },
    ];
    const all = keys.map((key) => hex(hash(body, [[0, 64]], key)));
    const other = new PrefixHasher(SECRET.map((word, index) => (index === 5 ? word ^ 4 : word)));
    all.push(hex(hash(body, [[0, 64]], KEY, other)));
    assert.equal(new Set(all).size, all.length);
  });

  test("with a salt of megabytes take no longer, and still depend on its length", () => {
    const body = utf8("x".repeat(64));
    const salts = [2 ** 22, 2 ** 22 + 1].map((length) => "s".repeat(length));
    const [one, other] = salts.map((cacheSalt) => hex(hash(body, [[0, 64]], { ...KEY, cacheSalt })));
    assert.notEqual(one, other);
  });

  test("refuse a secret of another length", () => {
    assert.throws(() => new PrefixHasher([1, 2, 3]), /6 words/);
  });
});

describe("quality", () => {
  test("flipping any bit flips each bit of the hash half of the time", () => {
    const samples = 300;
    const random = seededRandom(7);
    const block = new Uint8Array(64);
    const flips = new Uint32Array(512 * 64);
    for (let sample = 0; sample < samples; sample++) {
      for (let at = 0; at < block.length; at++) block[at] = random() * 256;
      const [low, high] = hash64(block);
      for (let bit = 0; bit < 512; bit++) {
        block[bit >> 3]! ^= 1 << (bit & 7);
        const [otherLow, otherHigh] = hash64(block);
        block[bit >> 3]! ^= 1 << (bit & 7);
        for (let out = 0; out < 32; out++) {
          flips[bit * 64 + out]! += ((low ^ otherLow) >>> out) & 1;
          flips[bit * 64 + 32 + out]! += ((high ^ otherHigh) >>> out) & 1;
        }
      }
    }
    // 32,768 shares of 300 samples: five standard deviations are 0.144.
    const most = flips.reduce((worst, count) => Math.max(worst, Math.abs(count / samples - 0.5)), 0);
    assert.equal(most < 0.15, true, `some bit flips with a bias of ${most}`);
  });

  const places: readonly [name: string, bit: (random: () => number) => number][] = [
    ["anywhere", (random) => random() * 512],
    ["top bytes of words", (random) => 32 * Math.floor(random() * 16) + 24 + random() * 8],
    ["low bits of words", (random) => 32 * Math.floor(random() * 16) + random() * 4],
    ["words of one lane", (random) => 64 * Math.floor(random() * 8) + random() * 32],
    ["the last words", (random) => 448 + random() * 64],
  ];
  for (const [index, [name, bitOf]] of places.entries()) {
    test(`bodies that differ in a few bits have hashes like random numbers: ${name}`, () => {
      const random = seededRandom(index);
      const bits = new Set<number>();
      while (bits.size < 17) bits.add(Math.floor(bitOf(random)));
      const { lows, highs } = hashAllSubsets([...bits]);
      // Of 131,072 random numbers, two pairs agree in 32 bits.
      assert.equal(duplicates(lows) < 14, true);
      assert.equal(duplicates(highs) < 14, true);
    });
  }
});

/** Flips one more bit each time, in Gray's order: every subset of the bits once. */
function hashAllSubsets(bits: readonly number[]): { lows: Int32Array; highs: Int32Array } {
  const lows = new Int32Array(2 ** bits.length);
  const highs = new Int32Array(2 ** bits.length);
  const block = new Uint8Array(64).fill(48);
  for (let step = 0; step < lows.length; step++) {
    const bit = bits[31 - Math.clz32(step & -step)];
    if (bit !== undefined) block[bit >> 3]! ^= 1 << (bit & 7);
    const [low, high] = hash64(block);
    lows[step] = low;
    highs[step] = high;
  }
  return { lows, highs };
}

function hash64(block: Uint8Array): [number, number] {
  const hashes = hasher.hash(KEY, block, [[0, block.length]], BLOCK, 1);
  return [hashes[0]!, hashes[1]!];
}

function duplicates(values: Int32Array): number {
  const sorted = values.slice().sort();
  let count = 0;
  for (let index = 1; index < sorted.length; index++) if (sorted[index] === sorted[index - 1]) count++;
  return count;
}
