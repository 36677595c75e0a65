import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { Span } from "../../../core/request.ts";
import { blockEnds, wholeBlocks } from "../../../core/state/prefix-blocks.ts";
import { PrefixHasher, type PrefixKey, promptBytes } from "../../../core/state/prefix-hash.ts";
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

/** The same function over one flat array of bytes, word by word. */
function plainHash(key: PrefixKey, prompt: readonly number[], ends: readonly number[]): number[] {
  const rotate = (value: number, bits: number) => (value << bits) | (value >>> (32 - bits));
  const scramble = (lane: number, odd: number) => {
    const product = Math.imul(lane ^ (lane >>> 15), odd);
    return product ^ (product >>> 16);
  };
  const odd1 = 0x9e3779b1 ^ (SECRET[4]! & 0x33cc33cc);
  const odd2 = 0x85ebca77 ^ (SECRET[5]! & 0x33cc33cc);
  let [a, b, c, d] = SECRET as [number, number, number, number];
  const take = (x: number, y: number) => {
    a = Math.imul(rotate(a, 15) ^ x, odd1);
    b = (rotate(b, 11) + a) | 0;
    c = Math.imul(rotate(c, 15) ^ y, odd2);
    d = (rotate(d, 11) + c) | 0;
  };
  for (const text of [key.api, key.target, key.cacheSalt]) {
    take(text.length, 0);
    const unit = (at: number) => (at < text.length ? text.charCodeAt(at) : 0);
    for (let at = 0; at < text.length; at += 4) take(unit(at) | (unit(at + 1) << 16), unit(at + 2) | (unit(at + 3) << 16));
  }
  const word = (at: number) => prompt[at]! | (prompt[at + 1]! << 8) | (prompt[at + 2]! << 16) | (prompt[at + 3]! << 24);
  const hashes: number[] = [];
  let at = 0;
  for (const end of ends) {
    for (; at < end; at += 8) take(word(at), word(at + 4));
    let low = (scramble(a, 0xcc9e2d51) + scramble(c, 0x85ebca6b)) | 0;
    let high = (scramble(b, 0x1b873593) + scramble(d, 0x2c1b3c6d)) | 0;
    low = (low + high) | 0;
    high ^= rotate(low, 13);
    low = Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
    high = Math.imul(high ^ (high >>> 12), 0x297a2d39);
    low = (low + rotate(high, 7)) | 0;
    high = (high + low) | 0;
    hashes.push(low ^ (low >>> 16), high ^ (high >>> 15));
  }
  return hashes;
}

describe("hashes of a prompt", () => {
  const vectors: readonly [name: string, body: Uint8Array, hashes: string][] = [
    ["zeros", new Uint8Array(64), "ba7efdbb 9d69be4d b5250ebe 28a59b5e"],
    ["English", utf8("The quick brown fox jumps over the lazy dog."), "5b0700a1 89377625"],
    ["Chinese", utf8("敏捷的棕色狐狸跳过懒狗,然后又跳了回来。"), "a6b69e36 9cdfc108"],
    ["emoji", utf8("🦊🐕🦊🐕🦊🐕🦊🐕🦊🐕"), "147ea920 6cdbe63b"],
  ];
  for (const [name, body, expected] of vectors) {
    test(`are the same on every runtime: ${name}`, () => assert.equal(hex(hash(body)), expected));
  }

  test("do not depend on where spans lie or how they are aligned, only on what they hold", () => {
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

  test("of a beginning are the beginning of the hashes", () => {
    const body = utf8("All work and no play makes Jack a dull boy. ".repeat(60));
    const whole = hash(body);
    for (let end = 0; end < body.length; end += 13) {
      const part = hash(body, [[0, end]]);
      assert.deepEqual(part, whole.slice(0, part.length));
    }
  });

  test("tell a moved boundary apart", () => {
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

  test("depend on each part of the key, on its ends too, and on the secret", () => {
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

  test("of a key with a salt of megabytes take no longer, and still tell its length", () => {
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
