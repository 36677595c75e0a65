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

function hash(body: Uint8Array, spans: readonly Span[] = [[0, body.length]], key = KEY, of = hasher): Int32Array {
  return of.hash(key, body, spans, ENDS, wholeBlocks(ENDS, promptBytes(spans)));
}

const utf8 = (text: string) => new TextEncoder().encode(text);
const hex = (words: Int32Array) => [...words].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join(" ");

/** The same function over one flat array of bytes, word by word. */
function plainHash(key: PrefixKey, prompt: readonly number[], ends: readonly number[]): number[] {
  const rotate = (value: number, bits: number) => (value << bits) | (value >>> (32 - bits));
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
    let low = (a + Math.imul(c, 0xcc9e2d51)) | 0;
    let high = (b + Math.imul(d, 0x1b873593)) | 0;
    low = Math.imul(low ^ (low >>> 16), 0x85ebca6b);
    high = Math.imul(high ^ (high >>> 15), 0x2c1b3c6d);
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
    ["zeros", new Uint8Array(64), ""],
    ["English", utf8("The quick brown fox jumps over the lazy dog."), ""],
    ["Chinese", utf8("敏捷的棕色狐狸跳过懒狗,然后又跳了回来。"), ""],
    ["emoji", utf8("🦊🐕🦊🐕🦊🐕🦊🐕🦊🐕"), ""],
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
    const cuts = [0, 10, 11, 64, 100].map((cut) => hex(hash(body, [[0, cut], [cut, 200]]).slice(-2)));
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
    for (const count of flips) assert.ok(Math.abs(count / samples - 0.5) < 0.15, `a bit flips in ${count} of ${samples}`);
  });

  const block = new Uint8Array(64);
  const sets: readonly [name: string, count: number, change: (number: number) => void][] = [
    ["a counter in text", 200_000, (number) => block.set(utf8(String(number).padStart(12, "0")), 29)],
    ["top bytes of words two apart", 200_000, (number) => writeBytes(number, [3, 11, 19])],
    ["the end of a word and the start of the next", 200_000, (number) => writeBytes(number, [3, 4, 5])],
    ["words of one lane", 200_000, (number) => writeBytes(number, [0, 8, 16])],
    ["the last bytes", 200_000, (number) => writeBytes(number, [63, 59, 61])],
    ["single letters changed at two places", 64 * 64 * 40, (number) => changeTwoLetters(number)],
  ];
  const writeBytes = (number: number, places: readonly number[]) => {
    places.forEach((place, index) => {
      block[place] = number >>> (8 * index);
    });
  };
  const changeTwoLetters = (number: number) => {
    block.fill(65);
    const first = number % 64;
    const second = (number >>> 6) % 64;
    const letters = number >>> 12;
    block[first] = 97 + letters;
    block[second] = first < second ? 70 : 71;
    if (first === second) block[0] = 40 + (first % 8) + 8 * (letters % 4);
  };
  for (const [name, count, change] of sets) {
    test(`each half of the hash is as good as random: ${name}`, () => {
      block.fill(48);
      const keys = new Set<string>();
      const lows = new Int32Array(count);
      const highs = new Int32Array(count);
      let unique = 0;
      for (let number = 0; number < count; number++) {
        change(number);
        if (name.startsWith("single")) {
          const key = block.join();
          if (keys.has(key)) continue;
          keys.add(key);
        }
        [lows[unique], highs[unique]] = hash64(block);
        unique++;
      }
      // About unique^2 / 2^33 pairs share 32 bits by chance: 4.7 of 200,000.
      for (const half of [lows, highs]) assert.ok(duplicates(half.subarray(0, unique)) < 20);
    });
  }
});

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
