import type { EnginePrompt } from "../engine/kv-cache.ts";

/** A made-up token: its id and its text. */
export interface Token {
  readonly id: number;
  readonly text: string;
}

/** Ids below this stand for single bytes, the others for pieces of text. */
const BYTE_IDS = 256;
const VOCABULARY = 128_000;

/** About four characters per token; spaces belong to the following word, as in real tokenizers. */
const PIECE = /\s*\S{1,4}|\s+/gu;
const PIECE_AT = new RegExp(PIECE, "uy");

/** Includes multi-byte characters, so that tests see streams cut inside a character. */
const WORDS = (
  "the signal at platform two is green and train number nine may leave now; please mind every gap between stations " +
  "until doors close → Grüße from Zürich 🚦 next stop: harbour, then old mill, then north junction ½ mile on."
)
  .split(" ")
  .map((word) => ` ${word}`);

/** The token ids of a text, the same on every runtime. */
export function tokenize(text: string): number[] {
  const ids: number[] = [];
  for (let from = 0; from < text.length; ) {
    const end = asciiPieceEnd(text, from) ?? pieceEnd(text, from);
    ids.push(idOf(text, from, end));
    from = end;
  }
  return ids;
}

/** Where the piece ends if it is four printable ASCII characters: much faster for prompts of a megabyte. */
function asciiPieceEnd(text: string, from: number): number | undefined {
  for (let at = from; at < from + 4; at++) {
    const code = text.charCodeAt(at);
    if (!(code > 0x20 && code < 0x7f)) return undefined;
  }
  return from + 4;
}

function pieceEnd(text: string, from: number): number {
  PIECE_AT.lastIndex = from;
  PIECE_AT.test(text);
  return PIECE_AT.lastIndex;
}

function idOf(text: string, from = 0, end = text.length): number {
  return BYTE_IDS + (hashText(text, 0x811c9dc5, from, end) % (VOCABULARY - BYTE_IDS));
}

/** A text as tokens; their texts joined are the text. */
export function tokensOf(text: string): Token[] {
  return Array.from(text.matchAll(PIECE), ([piece]) => ({ id: idOf(piece), text: piece }));
}

/** The text of these tokens. */
export function joined(tokens: readonly Token[]): string {
  return tokens.map(({ text }) => text).join("");
}

/** The bytes of a text as tokens, for an API that has no text. */
export function byteTokensOf(text: string): Token[] {
  return Array.from(Buffer.from(text), (id) => ({ id, text: "" }));
}

/** The output for a seed, always the same. */
export function madeUpTokens(seed: number, count: number): Token[] {
  return randomNumbers(seed, count).map((number, index) => {
    const word = WORDS[number % WORDS.length] ?? " the";
    return { id: idOf(word), text: index === 0 ? word.trimStart() : word };
  });
}

/** Numbers in [-1, 1] for a seed, the same on every runtime. */
export function madeUpVector(seed: number, size: number): number[] {
  return randomNumbers(seed, size).map((number) => (number % 20_001) / 10_000 - 1);
}

/** FNV-1a over a text's UTF-16 code units; `end` is exclusive. */
export function hashText(text: string, start: number, from = 0, end = text.length): number {
  let hash = start;
  for (let index = from; index < end; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/** FNV-1a over numbers; `end` is exclusive. */
export function hashNumbers(numbers: readonly number[], start: number, from = 0, end = numbers.length): number {
  let hash = start;
  for (let index = from; index < end; index++) hash = Math.imul(hash ^ (numbers[index] ?? 0), 0x01000193);
  return hash >>> 0;
}

/** Xorshift32. */
function randomNumbers(seed: number, count: number): number[] {
  let state = seed >>> 0 || 1;
  return Array.from({ length: count }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state = (state ^ (state << 5)) >>> 0;
    return state;
  });
}

/** A prompt with a hash for each full block, of everything up to the block's end. Prompts of different keys share nothing. */
export function hashedPrompt(prompt: readonly number[], cacheKey: string, blockTokens: number): EnginePrompt {
  const blocks: number[] = [];
  let left = hashText(cacheKey, 0x811c9dc5);
  let right = hashText(cacheKey, 0x2c1b3c6d);
  for (let from = 0; from + blockTokens <= prompt.length; from += blockTokens) {
    left = hashNumbers(prompt, left, from, from + blockTokens);
    right = hashNumbers(prompt, right, from, from + blockTokens);
    // 53 bits, the most that a number holds exactly.
    blocks.push(left * 2 ** 21 + (right >>> 11));
  }
  return { tokens: prompt.length, blocks, tokensIn: () => blockTokens };
}
