import type { Prompt } from "./trace.ts";

/** Sixty-four characters of one byte each: four of them spell any id of 24 bits. */
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const WORD_BYTES = 4;

/** Spells prompts out as bytes, four for a token, so that prompts that share blocks share their beginning and no more. */
export class PromptWriter {
  readonly #words: Int32Array;

  /** Holds one prompt at a time, of at most so many tokens. */
  constructor(maxTokens: number) {
    this.#words = new Int32Array(maxTokens);
  }

  /** The prompt's bytes; they last until the next call. */
  write(prompt: Prompt): Uint8Array {
    let at = 0;
    for (let block = 0; block < prompt.blocks.length; block++) {
      const end = at + prompt.tokensIn(block);
      this.#words.fill(spell(prompt.blocks[block]!), at, end);
      at = end;
    }
    return new Uint8Array(this.#words.buffer, 0, prompt.tokens * WORD_BYTES);
  }
}

/** The id as four characters in one word. */
function spell(id: number): number {
  let word = 0;
  for (let shift = 0; shift < 24; shift += 6) word = (word << 8) | ALPHABET.charCodeAt((id >>> shift) & 63);
  return word;
}
