import type { Span } from "../../../core/contract/span.ts";
import type { TraceRequest } from "./trace.ts";

/** 64 single-byte characters: four of them encode any 24-bit id. */
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const WORD_BYTES = 4;
/** By its code, what a character of the alphabet stands for. */
const DIGITS = Array.from({ length: 128 }, (_, code) => ALPHABET.indexOf(String.fromCharCode(code)));

/** Encodes prompts as bytes, four for each token of text, so that prompts share a byte prefix exactly where they share blocks. */
export class PromptWriter {
  readonly #words: Int32Array;

  /** For the prompts of these requests. One prompt is held at a time. */
  constructor(requests: readonly TraceRequest[]) {
    this.#words = new Int32Array(requests.reduce((most, request) => Math.max(most, wordsOf(request)), 0));
  }

  /** Returns the prompt's bytes; the next call overwrites them. */
  write(request: TraceRequest): Uint8Array {
    const { prompt, image } = request;
    let at = 0;
    for (let block = 0; block < prompt.blocks.length; block++) {
      const isImage = image !== undefined && block === prompt.blocks.length - 1;
      const end = at + (isImage ? image.bytes / WORD_BYTES : prompt.tokensIn(block));
      this.#words.fill(spell(prompt.blocks[block]!), at, end);
      at = end;
    }
    return new Uint8Array(this.#words.buffer, 0, at * WORD_BYTES);
  }
}

/** The ids that a prompt's words spell. */
export function promptOf(text: string): readonly number[] {
  return Array.from({ length: text.length / WORD_BYTES }, (_, word) => {
    let id = 0;
    for (let at = 0; at < WORD_BYTES; at++) id = (id << 6) | DIGITS[text.charCodeAt(WORD_BYTES * word + at)]!;
    return id;
  });
}

/** Tokens of a prompt's text. */
export function textTokens({ prompt, image }: TraceRequest): number {
  return image === undefined ? prompt.tokens : prompt.tokens - prompt.tokensIn(prompt.blocks.length - 1);
}

/** Where the prompt's image is in its bytes. */
export function imageSpan(request: TraceRequest): Span {
  const start = textTokens(request) * WORD_BYTES;
  return [start, start + (request.image?.bytes ?? 0)];
}

function wordsOf(request: TraceRequest): number {
  return imageSpan(request)[1] / WORD_BYTES;
}

/** The id as four characters in one 32-bit number. */
function spell(id: number): number {
  let word = 0;
  for (let shift = 0; shift < 24; shift += 6) word = (word << 8) | ALPHABET.charCodeAt((id >>> shift) & 63);
  return word;
}
