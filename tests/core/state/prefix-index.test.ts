import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { NO_PREFIX } from "../../../core/contract/prefix-match.ts";
import type { Span } from "../../../core/contract/span.ts";
import { PrefixIndex, type PrefixIndexSettings, type PromptPrefix } from "../../../core/state/prefix-index.ts";

const KEY = { api: "chat-completions", target: "base", cacheSalt: "" };
const MIB = 2 ** 20;
const SMALLEST_BYTES = 65_536;

interface Prompt {
  readonly body: Uint8Array;
  readonly spans: readonly Span[];
}

function makeIndex(settings: Partial<PrefixIndexSettings> = {}): PrefixIndex {
  return new PrefixIndex({ blockBytes: 64, maxBytes: MIB, secret: [1, 2, 3, 4, 5, 6], ...settings });
}

function plain(text: string): Prompt {
  const body = new TextEncoder().encode(text);
  return { body, spans: [[0, body.length]] };
}

/** A chat body and the span of each message in it, as a parser returns them. */
function chat(messages: readonly string[], isStream = false): Prompt {
  const encoder = new TextEncoder();
  const parts = messages.map((content, index) => JSON.stringify({ role: index % 2 === 0 ? "user" : "assistant", content }));
  const body = encoder.encode(`{"stream":${isStream},"model":"base","messages":[${parts.join(",")}]}`);
  const spans: Span[] = [];
  let at = encoder.encode(`{"stream":${isStream},"model":"base","messages":[`).length;
  for (const part of parts) {
    const bytes = encoder.encode(part).length;
    spans.push([at, at + bytes]);
    at += bytes + 1;
  }
  return { body, spans };
}

function match(index: PrefixIndex, { body, spans }: Prompt, key = KEY, promptTokens = 0): PromptPrefix {
  return index.match(key, body, spans, promptTokens);
}

const story = (name: string, bytes: number) => `${name} `.repeat(Math.ceil(bytes / (name.length + 1))).slice(0, bytes);

describe("a prompt that was sent", () => {
  test("is held by that endpoint only", () => {
    const index = makeIndex();
    const prompt = plain(story("fox", 1_000));
    index.admit(match(index, prompt), 3);
    const again = match(index, prompt, KEY, 250);
    assert.equal(again.blocks, 15);
    assert.equal(again.matchedBlocks(3), 15);
    assert.equal(again.matchedTokens(3), 240);
    assert.equal(again.matchedFraction(3), 1);
    for (const slot of [0, 2, 4, 1023]) {
      assert.equal(again.matchedBlocks(slot), 0);
      assert.equal(again.matchedTokens(slot), 0);
      assert.equal(again.matchedFraction(slot), 0);
    }
  });

  test("matches another prompt up to the first difference", () => {
    const index = makeIndex();
    index.admit(match(index, plain(story("fox", 2_000))), 0);
    const other = match(index, plain(story("fox", 1_000) + story("dog", 3_000)), KEY, 1_000);
    assert.equal(other.matchedBlocks(0), 15);
    assert.equal(other.matchedTokens(0), 240);
    assert.equal(other.matchedFraction(0), 15 / 62);
  });

  test("does not match under another model, salt or API", () => {
    const index = makeIndex();
    const prompt = plain(story("fox", 1_000));
    index.admit(match(index, prompt), 0);
    for (const other of [{ target: "adapter" }, { cacheSalt: "tenant" }, { api: "completions" }]) {
      assert.equal(match(index, prompt, { ...KEY, ...other }).matchedBlocks(0), 0);
    }
  });

  test("does not match in an index with another secret", () => {
    const prompt = plain(story("fox", 1_000));
    const prefixes = [makeIndex(), new PrefixIndex({ blockBytes: 64, maxBytes: MIB })].map((index) => match(index, prompt));
    assert.notDeepEqual(prefixes[0]!.hashes, prefixes[1]!.hashes);
  });

  test("has no blocks when it is shorter than one block, or empty", () => {
    const index = makeIndex();
    for (const prompt of [plain("short"), plain(""), { body: new Uint8Array(0), spans: [] }]) {
      const prefix = match(index, prompt, KEY, 5);
      index.admit(prefix, 0);
      index.withdraw(prefix, 0);
      assert.deepEqual(
        [prefix.blocks, prefix.matchedBlocks(0), prefix.matchedTokens(0), prefix.matchedFraction(0)],
        [0, 0, 0, 0],
      );
    }
    index.admit(NO_PREFIX, 0);
    index.withdraw(NO_PREFIX, 0);
    assert.equal(index.stats().entries, 0);
  });

  test("keeps the number of blocks that was read first", () => {
    const index = makeIndex();
    index.admit(match(index, plain(story("dog", 1_000))), 1);
    const prefix = match(index, plain(story("fox", 1_000)));
    for (let time = 0; time < 2; time++) {
      for (const slot of [0, 1, 2]) assert.equal(prefix.matchedBlocks(slot), 0);
      for (const slot of [0, 1, 2]) index.admit(prefix, slot);
    }
  });
});

describe("a conversation's next turn", () => {
  const cases: readonly [name: string, messages: readonly string[]][] = [
    ["English", [story("Tell me a story.", 700), story("Once upon a time", 900), story("Go on.", 500)]],
    ["Chinese", ["给我讲一个关于狐狸的故事。".repeat(30), "从前有一只狐狸。".repeat(40), "继续。".repeat(50)]],
    ["emoji", ["🦊👨‍👩‍👧‍👦🐕".repeat(40), "🏳️‍🌈é".repeat(60), "👍🏽".repeat(50)]],
  ];
  for (const [name, messages] of cases) {
    test(`holds all of the turns before: ${name}`, () => {
      const index = makeIndex();
      for (let turns = 1; turns <= messages.length; turns++) {
        const before = match(index, chat(messages.slice(0, turns - 1)));
        const prefix = match(index, chat(messages.slice(0, turns), turns % 2 === 0));
        assert.equal(prefix.matchedBlocks(0), before.blocks);
        assert.ok(prefix.blocks > before.blocks);
        index.admit(prefix, 0);
      }
    });
  }

  test("holds them for any messages", () => {
    const message = fc.string({ unit: "binary", maxLength: 400 });
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 8 }), message, (messages, next) => {
        const index = makeIndex({ maxBytes: SMALLEST_BYTES });
        const before = match(index, chat(messages));
        index.admit(before, 0);
        assert.equal(match(index, chat([...messages, next])).matchedBlocks(0), before.blocks);
      }),
      { numRuns: 60 },
    );
  });
});

describe("a prompt of 32 MB", () => {
  test("is hashed as far as any engine's context reaches, and matches", () => {
    const index = makeIndex({ blockBytes: 256, defaultCapacityTokens: 2 ** 24 });
    const body = new Uint8Array(32 * MIB).fill(97);
    for (let at = 0; at < body.length; at += 4096) body[at] = at / 4096;
    const prompt: Prompt = { body, spans: [[0, body.length]] };
    const prefix = match(index, prompt, KEY, 8 * MIB);
    assert.equal(prefix.blocks, 320);
    index.admit(prefix, 0);
    body[5 * MIB]! ^= 1;
    assert.equal(match(index, prompt).matchedFraction(0), 1);
    assert.equal(match(index, prompt, KEY, 8 * MIB).matchedTokens(0), MIB);
    body[3 * MIB]! ^= 1;
    const share = match(index, prompt).matchedFraction(0);
    assert.ok(share > 0.73 && share <= 0.75, `${share}`);
  });
});

describe("withdraw", () => {
  test("removes the failed request's blocks, and only those", () => {
    const index = makeIndex();
    const short = plain(story("fox", 1_000));
    const long = plain(story("fox", 3_000));
    index.admit(match(index, short), 0);
    const before = index.stats();
    const failed = match(index, long);
    index.admit(failed, 0);
    index.admit(failed, 1);
    index.withdraw(failed, 0);
    assert.equal(match(index, long).matchedBlocks(0), 15);
    assert.equal(match(index, long).matchedBlocks(1), failed.blocks);
    index.withdraw(failed, 1);
    index.withdraw(failed, 1);
    assert.deepEqual(index.stats(), before);
  });

  test("leaves blocks that another request has used since", () => {
    const index = makeIndex();
    const failed = match(index, plain(story("fox", 3_000)));
    index.admit(failed, 0);
    const other = match(index, plain(story("fox", 1_000)));
    index.admit(other, 0);
    index.withdraw(failed, 0);
    assert.equal(match(index, plain(story("fox", 3_000))).matchedBlocks(0), other.blocks);
  });
});

describe("capacity", () => {
  test("keeps the newest prompts, and the beginning of the oldest", () => {
    const index = makeIndex({ defaultCapacityTokens: 1_000 });
    const prompts = ["ant", "bee", "cat"].map((name) => plain(story(name, 1_600)));
    for (const prompt of prompts) index.admit(match(index, prompt, KEY, 400), 0);
    assert.deepEqual(
      prompts.map((prompt) => match(index, prompt).matchedBlocks(0)),
      [12, 25, 25],
    );
    index.setCapacity(0, 500);
    assert.deepEqual(
      prompts.map((prompt) => match(index, prompt).matchedBlocks(0)),
      [0, 6, 25],
    );
    index.setCapacity(0, -1);
    assert.equal(index.stats().entries, 0);
    for (const unknown of [undefined, Number.NaN]) {
      index.setCapacity(0, unknown);
      index.admit(match(index, prompts[0]!, KEY, 400), 0);
      assert.equal(index.stats().slots[0]!.capacityTokens, 1_000);
    }
  });

  test("is counted in each prompt's tokens, not in bytes", () => {
    const index = makeIndex({ defaultCapacityTokens: 1_000 });
    const dense = plain(story("ant", 1_600));
    index.admit(match(index, dense, KEY, 1_600), 0);
    assert.equal(match(index, dense).matchedBlocks(0), 15);
    assert.equal(index.stats().slots[0]!.tokens, 15 * 64);
  });

  test("of a replica that restarted is empty again", () => {
    const index = makeIndex();
    const prompt = plain(story("fox", 1_000));
    for (const slot of [0, 1]) index.admit(match(index, prompt), slot);
    index.forget(0);
    assert.equal(match(index, prompt).matchedBlocks(0), 0);
    assert.equal(match(index, prompt).matchedBlocks(1), 15);
    assert.deepEqual(
      index.stats().slots.map(({ slot, tokens }) => [slot, tokens]),
      [[1, 240]],
    );
  });
});

describe("memory", () => {
  for (const maxBytes of [SMALLEST_BYTES, 300_000, MIB]) {
    test(`stays within ${maxBytes} bytes with 200 endpoints, and the newest prompts stay`, () => {
      const index = makeIndex({ maxBytes, defaultCapacityTokens: 3_000_000 });
      const { maxEntries, bytes } = index.stats();
      assert.ok(bytes <= maxBytes && bytes > maxBytes - 64);
      const prompts = Math.ceil((3 * maxEntries) / 80);
      for (let number = 0; number < prompts; number++) {
        const prompt = plain(story("shared", 640) + story(`prompt ${number}`, 5_000));
        const prefix = match(index, prompt);
        index.admit(prefix, (number * 7) % 200);
        assert.ok(index.stats().entries <= maxEntries);
        assert.equal(match(index, prompt).matchedBlocks((number * 7) % 200), prefix.blocks);
      }
      const { entries, slots } = index.stats();
      assert.equal(entries, maxEntries);
      assert.equal(
        slots.reduce((sum, slot) => sum + slot.entries, 0),
        entries,
      );
    });
  }

  test("is reserved once, and does not grow with prompts", () => {
    const index = makeIndex();
    const { bytes } = index.stats();
    for (let number = 0; number < 50; number++) index.admit(match(index, plain(story(`prompt ${number}`, 20_000))), number);
    assert.equal(index.stats().bytes, bytes);
  });

  test("has a smallest bound that is accepted", () => {
    assert.throws(() => makeIndex({ maxBytes: 10_000 }), /at least 65536/);
  });
});

test("200 endpoints each hold their own length of one prompt", () => {
  const index = makeIndex();
  const text = story("fox", 20_000);
  const whole = match(index, plain(text));
  const lengths = Array.from({ length: 200 }, (_, slot) => (slot * 97) % 20_000);
  for (const [slot, length] of lengths.entries()) index.admit(match(index, plain(text.slice(0, length))), slot);
  const prefix = match(index, plain(text));
  for (const [slot, length] of lengths.entries()) {
    assert.equal(prefix.matchedBlocks(slot), match(index, plain(text.slice(0, length))).blocks);
    assert.ok(prefix.matchedBlocks(slot) <= whole.blocks);
  }
});

test("a prefix of an index before says nothing of this one's blocks", () => {
  const prompt = plain(story("fox", 1_000));
  const before = makeIndex({ countGenerated: true });
  const index = makeIndex({ countGenerated: true });
  index.admit(match(index, prompt), 0);
  const { entries } = index.stats();
  const old = match(before, prompt);
  index.admit(old, 0);
  index.generated(old, 0, 50);
  index.reported(old, 0, 0);
  assert.equal(index.stats().entries, entries);
  assert.equal(match(index, prompt).matchedTokens(0), match(index, prompt).heldTokens(0));
});

test("a full cache says what room for a new prompt costs, an empty one that it costs next to nothing", () => {
  const index = makeIndex({ defaultCapacityTokens: 1_000 });
  const fox = plain(story("fox", 4_000));
  for (let turn = 0; turn < 3; turn++) index.admit(match(index, fox), 0);
  const cat = match(index, plain(story("cat", 4_000)));
  assert.ok(cat.displacedTokens(0, 1_000) > 2 && cat.displacedTokens(0, 1_000) <= 1_002);
  assert.equal(cat.displacedTokens(1, 500), 0.5);
  assert.equal(match(index, plain("short")).displacedTokens(0, 10), 0, "what is too short to be cached takes no room");
});
