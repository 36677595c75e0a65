import type { Prompt } from "./trace.ts";

/** 64 single-byte characters: four of them encode any 24-bit id. */
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const WORD_BYTES = 4;

/** Encodes prompts as bytes, four for each token, so that prompts share a byte prefix exactly where they share blocks. */
export class PromptWriter {
  readonly #words: Int32Array;

  /** `maxTokens`: length of the longest prompt. One prompt is held at a time. */
  constructor(maxTokens: number) {
    this.#words = new Int32Array(maxTokens);
  }

  /** Returns the prompt's bytes; the next call overwrites them. */
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

/** The id as four characters in one 32-bit number. */
function spell(id: number): number {
  let word = 0;
  for (let shift = 0; shift < 24; shift += 6) word = (word << 8) | ALPHABET.charCodeAt((id >>> shift) & 63);
  return word;
}
