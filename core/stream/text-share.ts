import { KeySearch } from "./key-search.ts";
import { TEXT_MEMBERS, valueStart } from "./text-members.ts";

const SPACE = 0x20;
const QUOTE = 0x22;
const SMALL_A = 0x61;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const CLOSE = 0x7d;

const KEYS = new KeySearch(TEXT_MEMBERS);
/** So much of a string whose name came in an earlier read is looked at. */
const LOOKED_AT = 256;
/** A read is looked at when so large a part of the stream has passed since the last one that was: eight or so each time it doubles. */
const PART = 8;

/**
 * How many bytes of a stream are generated text, as told by some of its reads: so few that it costs nothing, and so many that an event
 * which is a large part of the stream is among them.
 */
export class TextShare {
  #bytes = 0;
  #lookAt = 0;
  #lookedUpTo = 0;
  #textBytes = 0;
  /** Of the last read that was looked at. */
  #share = 0;

  begin(): void {
    this.#bytes = 0;
    this.#lookAt = 0;
    this.#lookedUpTo = 0;
    this.#textBytes = 0;
    this.#share = 0;
  }

  /** Reads body bytes: `spanCount` [start, end) pairs into `chunk`. */
  read(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number): void {
    const before = this.#bytes;
    for (let i = 0; i < spanCount; i++) this.#bytes += spans[2 * i + 1]! - spans[2 * i]!;
    const read = this.#bytes - before;
    if (this.#bytes < this.#lookAt || read === 0) return;
    let textBytes = 0;
    for (let i = 0; i < spanCount; i++) textBytes += textBytesIn(chunk, spans[2 * i]!, spans[2 * i + 1]!);
    const share = textBytes / read;
    // What passed between two reads is like both of them: the geometric mean, so that one long text among short ones is not many.
    this.#textBytes += Math.sqrt(this.#share * share) * (before - this.#lookedUpTo) + textBytes;
    this.#share = share;
    this.#lookedUpTo = this.#bytes;
    this.#lookAt = this.#bytes + Math.floor(this.#bytes / PART);
  }

  /** Of the whole stream so far. */
  get textBytes(): number {
    const usualShare = this.#lookedUpTo === 0 ? 0 : this.#textBytes / this.#lookedUpTo;
    return this.#textBytes + Math.min(this.#share, usualShare) * (this.#bytes - this.#lookedUpTo);
  }
}

function textBytesIn(bytes: Uint8Array, start: number, end: number): number {
  let sum = cutTextBytes(bytes, start, end);
  let at = KEYS.firstIn(bytes, start, end);
  while (at >= 0) {
    let value = valueStart(bytes, at, end);
    if (value >= 0 && bytes[value] === QUOTE) {
      const close = closingQuote(bytes, value + 1, end);
      sum += close - value - 1;
      value = close;
    }
    at = KEYS.firstIn(bytes, Math.max(at + 1, value), end);
  }
  return sum;
}

/** The rest of a text that began in an earlier read, which is known by its looks: neither a list of numbers nor encoded bytes. */
function cutTextBytes(bytes: Uint8Array, start: number, end: number): number {
  const close = closingQuote(bytes, start, end);
  const after = bytes[close + 1];
  const isClosing = close + 1 >= end || after === COMMA || after === CLOSE || after === CLOSE_LIST;
  return isClosing && looksLikeText(bytes, start, Math.min(close, start + LOOKED_AT)) ? close - start : 0;
}

function looksLikeText(bytes: Uint8Array, start: number, end: number): boolean {
  let hasLetters = false;
  let hasBreaks = false;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte < SPACE) return false;
    hasLetters ||= byte >= SMALL_A;
    hasBreaks ||= byte >= 0x80 || byte === SPACE || byte === BACKSLASH;
  }
  return hasLetters && hasBreaks;
}

/** Where the string ends that `start` is in; `end` if it does not. */
function closingQuote(bytes: Uint8Array, start: number, end: number): number {
  for (let at = bytes.indexOf(QUOTE, start); at >= 0 && at < end; at = bytes.indexOf(QUOTE, at + 1)) {
    let slashes = 0;
    while (at - 1 - slashes >= start && bytes[at - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return end;
}
