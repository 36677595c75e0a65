import type { Span } from "../contract/span.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DIGIT_9 = 0x39;
const CAPITAL_E = 0x45;
const LETTER_E = 0x65;
const LETTER_F = 0x66;

/** Of a longer array so many bytes are counted: to count all of 32 MB would hold up everybody else for 50 ms. */
const MOST_COUNTED_BYTES = 1024 * 1024;

/**
 * How many numbers a scanned array holds, nested arrays included; 0 if it holds anything else. Of more than a megabyte the first one
 * is counted, and the others are taken to be like it.
 */
export function countNumbers(bytes: Uint8Array, span: Span): number {
  const length = span[1] - span[0];
  if (length <= MOST_COUNTED_BYTES) return countAll(bytes, span);
  return Math.round((countAll(bytes, [span[0], span[0] + MOST_COUNTED_BYTES]) * length) / MOST_COUNTED_BYTES);
}

function countAll(bytes: Uint8Array, span: Span): number {
  const commas = commasOfFlatList(bytes, span[0] + 1, span[1] - 1);
  return commas > 0 ? commas + 1 : countOneByOne(bytes, span);
}

/**
 * Counts the commas of a simple list like "17,4,2026"; NaN or 0 if it is not simple. It reads four bytes at a time, because
 * prompts of token ids are such lists and may be long.
 */
function commasOfFlatList(bytes: Uint8Array, from: number, end: number): number {
  const base = bytes.byteOffset;
  const first = (base + from + 3) >>> 2;
  const last = (base + end) >>> 2;
  if (first > last) return 0;
  let commas = flatCommas(bytes, from, first * 4 - base) + flatCommas(bytes, last * 4 - base, end);
  if (Number.isNaN(commas)) return commas;
  const words = new Int32Array(bytes.buffer, 0, bytes.buffer.byteLength >>> 2);
  for (let index = first; index < last; index++) {
    const word = words[index]!;
    if (!isFlatWord(word)) return Number.NaN;
    commas += commasInWord(word);
  }
  return commas;
}

/** Counts commas byte by byte, before the first whole word and after the last; NaN if a byte is not flat. */
function flatCommas(bytes: Uint8Array, from: number, end: number): number {
  let commas = 0;
  for (let at = from; at < end; at++) {
    if (bytes[at]! >= 0x40 || bytes[at] === QUOTE) return Number.NaN;
    if (bytes[at] === COMMA) commas++;
  }
  return commas;
}

/** Whether no byte of the word is a quote, or 0x40 or above (brackets, letters). */
function isFlatWord(word: number): boolean {
  return (word & 0xc0c0c0c0) === 0 && zeroBytes(word ^ 0x22222222) === 0;
}

function commasInWord(word: number): number {
  return Math.imul(zeroBytes(word ^ 0x2c2c2c2c) >>> 7, 0x01010101) >>> 24;
}

/** Sets the top bit of each byte that is 0, for bytes below 0x80: adding 0x7f sets it in all other bytes. */
function zeroBytes(word: number): number {
  return ~(word + 0x7f7f7f7f) & 0x80808080;
}

function countOneByOne(bytes: Uint8Array, span: Span): number {
  let count = 0;
  let at = span[0];
  while (at < span[1]) {
    const byte = bytes[at]!;
    if (byte >= MINUS && byte <= DIGIT_9) {
      at = mantissaEnd(bytes, at + 1);
      count++;
    } else if (byte === LETTER_E || byte === CAPITAL_E) {
      at = mantissaEnd(bytes, at + 2); // exponent of the number just counted; it may begin with a plus
    } else if (byte === QUOTE || byte >= LETTER_F) {
      return 0;
    } else at++;
  }
  return count;
}

/** Index after a run of digits, points and minus signs; the array's closing bracket ends the last run. */
function mantissaEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at]! >= MINUS && bytes[at]! <= DIGIT_9) at++;
  return at;
}
