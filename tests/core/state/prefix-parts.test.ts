/** Prompts with images in the prefix index. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { Span } from "../../../core/contract/span.ts";
import { hashedPrompt, tokensBefore } from "../../../core/state/hashed-prompt.ts";
import { PrefixIndex, type PromptPrefix } from "../../../core/state/prefix-index.ts";

const KEY = { api: "chat-completions", target: "base", cacheSalt: "" };
const IMAGE_TOKENS = 600;
const SLOT = 3;

interface Prompt {
  readonly body: Uint8Array;
  readonly spans: readonly Span[];
  readonly images: readonly Span[];
}

/** A prompt of texts and images, in turns, with other bytes before and after it. */
function promptOf(...pieces: readonly string[]): Prompt {
  const images: Span[] = [];
  let text = "{";
  pieces.forEach((piece, index) => {
    if (index % 2 === 1) images.push([text.length, text.length + piece.length]);
    text += piece;
  });
  return { body: new TextEncoder().encode(`${text}}`), spans: [[1, text.length]], images };
}

function makeIndex(): PrefixIndex {
  return new PrefixIndex({ blockBytes: 64, maxBytes: 2 ** 22, secret: [1, 2, 3, 4, 5, 6] });
}

/** As the parse stage asks: text at four bytes a token. */
function match(index: PrefixIndex, { body, spans, images }: Prompt, each = IMAGE_TOKENS): PromptPrefix {
  const parts = images.map((span) => ({ kind: "image" as const, span, isInline: true, tokens: each }));
  const imageBytes = images.reduce((sum, [start, end]) => sum + end - start, 0);
  const textTokens = (spans[0]![1] - spans[0]![0] - imageBytes) / 4;
  return index.match(KEY, body, spans, textTokens + each * images.length, parts);
}

const text = (name: string, bytes: number) => `${name} `.repeat(bytes).slice(0, bytes);
const CAT = `"${text("iVBORw0KGgo/cat+", 1_000_000)}"`;
const DOG = `${CAT.slice(0, 500_000)}#${CAT.slice(500_001)}`;

describe("a prompt with a large image", () => {
  const BEFORE = text("before", 2_000);
  const AFTER = text("after", 4_000);
  const sent = promptOf(BEFORE, CAT, AFTER);

  test("is held as a whole, in tokens", () => {
    const index = makeIndex();
    index.admit(match(index, sent), SLOT);
    const again = match(index, sent);
    assert.equal(again.matchedBlocks(SLOT), again.blocks);
    assert.equal(again.matchedFraction(SLOT), 1);
    const whole = 500 + IMAGE_TOKENS + 1_000;
    assert.ok(again.matchedTokens(SLOT) <= whole && again.matchedTokens(SLOT) > whole - 64, `${again.matchedTokens(SLOT)}`);
    const held = index.stats().slots[0]!.tokens;
    assert.ok(Math.abs(held - again.matchedTokens(SLOT)) < again.blocks, `${held} tokens held`);
  });

  test("shares what comes before another image, and nothing beyond", () => {
    const index = makeIndex();
    index.admit(match(index, sent), SLOT);
    const other = promptOf(BEFORE, DOG, AFTER);
    assert.notDeepEqual(other.body, sent.body);
    const tokens = match(index, other).matchedTokens(SLOT);
    assert.ok(tokens > 500 - 16 && tokens <= 500, `${tokens} of 500`);
  });

  test("shares the image and the text after it with a longer prompt", () => {
    const index = makeIndex();
    index.admit(match(index, sent), SLOT);
    const longer = match(index, promptOf(BEFORE, CAT, `${AFTER}${text("more", 4_000)}`));
    const shared = 500 + IMAGE_TOKENS + 1_000;
    assert.ok(longer.matchedTokens(SLOT) > shared - 64 && longer.matchedTokens(SLOT) <= shared, `${longer.matchedTokens(SLOT)}`);
    assert.ok(longer.matchedFraction(SLOT) < 0.75);
  });

  test("has the same blocks after tokens of images were learned", () => {
    const index = makeIndex();
    index.admit(match(index, sent, 1_000), SLOT);
    const again = match(index, sent, 64);
    assert.equal(again.matchedBlocks(SLOT), again.blocks);
    assert.ok(again.matchedTokens(SLOT) > 1_500, `${again.matchedTokens(SLOT)}`);
  });

  test("differs from one without it, and from one with two", () => {
    const index = makeIndex();
    index.admit(match(index, sent), SLOT);
    for (const other of [promptOf(BEFORE, '""', AFTER), promptOf(BEFORE, CAT, "", CAT, AFTER), promptOf(BEFORE + AFTER)]) {
      const tokens = match(index, other).matchedTokens(SLOT);
      assert.ok(tokens <= 500 + IMAGE_TOKENS, `${tokens}`);
    }
  });
});

test("an image stays at its place where tools come last in the body", () => {
  const index = makeIndex();
  const [messages, tools] = [promptOf(text("m", 1_000), CAT, text("n", 1_000)), text("t", 1_000)];
  const body = Buffer.concat([messages.body, Buffer.from(tools)]);
  const toolSpan: Span = [messages.body.length, body.length];
  const sent = { ...messages, body, spans: [toolSpan, ...messages.spans] };
  const reordered = promptOf(`${tools}\0${text("m", 1_000)}`, CAT, text("n", 1_000));
  index.admit(match(index, sent), SLOT);
  const again = match(index, reordered);
  assert.equal(again.matchedBlocks(SLOT), again.blocks);
  assert.ok(again.blocks > 50);
});

test("an image comes first where the template has it first", () => {
  const index = makeIndex();
  index.admit(match(index, promptOf("", CAT, text("a", 4_000))), SLOT);
  const tokens = match(index, promptOf("", CAT, text("b", 4_000))).matchedTokens(SLOT);
  assert.ok(tokens > IMAGE_TOKENS - 32 && tokens <= IMAGE_TOKENS, `${tokens}`);
});

test("one bit of an image anywhere makes another prompt", () => {
  const index = makeIndex();
  const image = `"${text("AB", 3_001)}"`;
  index.admit(match(index, promptOf("", image, text("x", 500))), SLOT);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: image.length - 2 }), (at) => {
      const other = `${image.slice(0, at)}${image[at] === "A" ? "C" : "A"}${image.slice(at + 1)}`;
      assert.equal(match(index, promptOf("", other, text("x", 500))).matchedBlocks(SLOT), 0);
    }),
    { numRuns: 100 },
  );
  for (const other of [`${image} `, image.slice(1), image.slice(0, -1)]) {
    assert.equal(match(index, promptOf("", other, text("x", 500))).matchedBlocks(SLOT), 0);
  }
});

test("tokens grow along the prompt up to its whole length", () => {
  const piece = fc.nat({ max: 5_000 });
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 9 }), fc.nat({ max: 3_000 }), (lengths, each) => {
      const { spans, images } = promptOf(...lengths.map((length) => "x".repeat(length + 2)));
      const parts = images.map((span) => ({ kind: "image" as const, span, isInline: true, tokens: each }));
      const textTokens = 1_000;
      const prompt = hashedPrompt(spans, textTokens + each * parts.length, parts);
      let before = 0;
      for (let at = 0; at <= prompt.bytes; at += Math.max(1, Math.floor(prompt.bytes / 50))) {
        const tokens = tokensBefore(prompt, at);
        assert.ok(tokens >= before - 1e-6);
        before = tokens;
      }
      assert.ok(Math.abs(tokensBefore(prompt, prompt.bytes) - (textTokens + each * parts.length)) < 1e-3);
    }),
  );
});
