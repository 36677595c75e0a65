import type { PromptPart } from "../contract/prompt-part.ts";
import type { Span } from "../contract/span.ts";
import { malformed, notAnObject, tooDeep, trailing, truncated } from "./invalid-json.ts";
import type { KeySpans } from "./noted-keys.ts";
import { NotedKeys } from "./noted-keys.ts";
import { afterNumberByte, digitsEnd, integerRunEnd, isWholeNumber, NUMBER_START, type NumberState } from "./number-run.ts";
import { isEscapeLetter, isHexDigit, literalOf, shortRunEnd } from "./string-run.ts";
import { contentEnd, forgetWindow } from "./text-scan.ts";

// States: what may come next between tokens …
const BODY = 0;
const FIRST_KEY = 1;
const KEY = 2;
const AFTER_KEY = 3;
const VALUE = 4;
const FIRST_ITEM = 5;
const AFTER_VALUE = 6;
const BODY_END = 7;
// … and inside a token that a chunk boundary may cut.
const STRING = 8;
const ESCAPE = 9;
const LITERAL = 10;
const NUMBER = 11;

// Declared here and not imported, because V8 needs five loads to read an imported constant.
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const LETTER_U = 0x75;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Shorter strings are scanned without the cost of a call into WebAssembly. */
const SHORT_STRING = 16;

/**
 * Scans a body once, while its bytes arrive, and notes where the values of the given top-level keys are.
 * It accepts exactly one JSON object (RFC 8259) and throws RouterError for anything else; after that the scanner can't be used.
 * Inside strings it does not check bytes of 0x80 and above, because the body is sent on unchanged: UTF-8 is checked where a
 * string is decoded.
 */
export class BodyScanner implements KeySpans {
  readonly #noted: NotedKeys;
  readonly #maxDepth: number;
  #state = BODY;
  #at = 0;
  #depth = 0;
  /** One bit for each of the innermost 16 containers, 1 = array; the bits of the outer ones are in `#outerArrays`. */
  #arrays = 0;
  readonly #outerArrays: number[] = [];
  #isKey = false;
  #hexLeft = 0;
  #number: NumberState = NUMBER_START;
  /** What is missing of it. */
  #literal = "";
  /** Where the latest top-level key or value begins, and the latest string that is a value. */
  #begin = 0;
  #stringBegin = 0;

  /** `partKeys`: those of the keys whose value may hold parts that are not text. */
  constructor(keys: readonly string[], maxDepth: number, partKeys: readonly string[] = []) {
    this.#noted = new NotedKeys(keys, partKeys);
    this.#maxDepth = maxDepth;
  }

  get parts(): readonly PromptPart[] {
    return this.#noted.parts;
  }

  spanOf(key: string): Span | undefined {
    return this.#noted.spanOf(key);
  }

  /** Scans on to `end`. `bytes` may be another buffer each time, but must begin with the content scanned so far. */
  push(bytes: Uint8Array, end: number): void {
    forgetWindow();
    let at = this.#at;
    while (at < end) at = this.#state < STRING ? this.#between(bytes, at, end) : this.#resume(bytes, at, end);
    this.#at = at;
  }

  /** Scans the rest, up to the end of the body. */
  finish(bytes: Uint8Array, end: number): void {
    this.push(bytes, end);
    if (this.#state !== BODY_END) throw truncated(end, this.#state !== BODY);
    this.#noted.finish();
  }

  #resume(bytes: Uint8Array, at: number, end: number): number {
    if (this.#state === LITERAL) return this.#literalRest(bytes, at, end);
    if (this.#state === NUMBER) return this.#numberRest(bytes, at, end);
    return this.#stringRest(bytes, at, end);
  }

  /** Scans tokens and what is between them; returns `end`, or the index at which the state is one inside a token. */
  #between(bytes: Uint8Array, from: number, end: number): number {
    let at = from;
    while (at < end) {
      const byte = bytes[at]!;
      if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
        at++;
        continue;
      }
      switch (this.#state) {
        case AFTER_VALUE:
          this.#afterValue(bytes, at);
          at++;
          break;
        case FIRST_KEY:
        case KEY:
          at = this.#key(bytes, at, end);
          break;
        case AFTER_KEY:
          if (byte !== COLON) throw malformed(bytes, at);
          this.#state = VALUE;
          at++;
          break;
        case VALUE:
        case FIRST_ITEM:
          at = this.#value(bytes, at, end);
          break;
        case BODY:
          if (byte !== OPEN_OBJECT) throw notAnObject(bytes, at);
          this.#open(at, 0);
          at++;
          break;
        default:
          throw trailing(at);
      }
    }
    return at;
  }

  #afterValue(bytes: Uint8Array, at: number): void {
    const byte = bytes[at];
    const isInArray = (this.#arrays & 1) === 1;
    if (byte === COMMA) this.#state = isInArray ? VALUE : KEY;
    else if (byte === (isInArray ? CLOSE_ARRAY : CLOSE_OBJECT)) this.#close(bytes, at + 1);
    else throw malformed(bytes, at);
  }

  #key(bytes: Uint8Array, at: number, end: number): number {
    if (bytes[at] !== QUOTE) {
      if (this.#state === KEY || bytes[at] !== CLOSE_OBJECT) throw malformed(bytes, at);
      this.#close(bytes, at + 1);
      return at + 1;
    }
    if (this.#depth === 1) this.#begin = at;
    this.#isKey = true;
    return this.#string(bytes, at + 1, end);
  }

  #value(bytes: Uint8Array, at: number, end: number): number {
    const byte = bytes[at]!;
    if (this.#depth === 1) this.#begin = at;
    if (byte >= DIGIT_0 && byte <= DIGIT_9) return this.#digits(bytes, at, end);
    switch (byte) {
      case QUOTE:
        this.#isKey = false;
        this.#stringBegin = at;
        return this.#string(bytes, at + 1, end);
      case OPEN_OBJECT:
        this.#open(at, 0);
        return at + 1;
      case OPEN_ARRAY:
        this.#open(at, 1);
        return at + 1;
      case CLOSE_ARRAY:
        if (this.#state !== FIRST_ITEM) throw malformed(bytes, at);
        this.#close(bytes, at + 1);
        return at + 1;
      case MINUS:
        return this.#startNumber(bytes, at + 1, end);
      default:
        return this.#startLiteral(bytes, at, end);
    }
  }

  #string(bytes: Uint8Array, from: number, end: number): number {
    this.#state = STRING;
    const shortEnd = Math.min(end, from + SHORT_STRING);
    const at = shortRunEnd(bytes, from, shortEnd);
    if (at < shortEnd && bytes[at] === QUOTE) return this.#stringEnd(bytes, at);
    return this.#stringRest(bytes, at, end);
  }

  #stringRest(bytes: Uint8Array, from: number, end: number): number {
    let at = from;
    while (at < end) {
      if (this.#state !== STRING) this.#escapeByte(bytes, at);
      else {
        at = contentEnd(bytes, at, end);
        if (at === end) return at;
        if (bytes[at] === QUOTE) return this.#stringEnd(bytes, at);
        if (bytes[at] !== BACKSLASH) throw malformed(bytes, at);
        this.#state = ESCAPE;
      }
      at++;
    }
    return at;
  }

  /** Scans one byte of an escape that a chunk boundary cuts, or that is wrong. */
  #escapeByte(bytes: Uint8Array, at: number): void {
    const byte = bytes[at]!;
    const isHex = this.#hexLeft > 0;
    if (isHex ? !isHexDigit(byte) : byte !== LETTER_U && !isEscapeLetter(byte)) throw malformed(bytes, at);
    if (isHex) this.#hexLeft--;
    else if (byte === LETTER_U) this.#hexLeft = 4;
    if (this.#hexLeft === 0) this.#state = STRING;
  }

  #stringEnd(bytes: Uint8Array, at: number): number {
    if (!this.#isKey) {
      this.#noted.conversation?.stringEnded(bytes, this.#stringBegin, at + 1);
      this.#valueEnd(at + 1);
    } else {
      this.#state = AFTER_KEY;
      if (this.#depth === 1) this.#noted.keyEnded(bytes, this.#begin, at + 1);
    }
    return at + 1;
  }

  #digits(bytes: Uint8Array, at: number, end: number): number {
    const isNextItem = this.#state === VALUE && (this.#arrays & 1) === 1;
    const runEnd = isNextItem ? integerRunEnd(bytes, at, end) : at;
    return runEnd > at ? runEnd : this.#startNumber(bytes, at, end);
  }

  #startNumber(bytes: Uint8Array, at: number, end: number): number {
    this.#state = NUMBER;
    this.#number = NUMBER_START;
    return this.#numberRest(bytes, at, end);
  }

  #numberRest(bytes: Uint8Array, from: number, end: number): number {
    let state = this.#number;
    let at = from;
    while (at < end) {
      const byte = bytes[at]!;
      const next = afterNumberByte(state, byte);
      if (next === 0) {
        if (!isWholeNumber(state)) throw malformed(bytes, at);
        this.#valueEnd(at);
        return at;
      }
      at = next === state ? digitsEnd(bytes, at, end) : at + 1;
      state = next;
    }
    this.#number = state;
    return at;
  }

  #startLiteral(bytes: Uint8Array, at: number, end: number): number {
    const literal = literalOf(bytes[at]!);
    if (literal === undefined) throw malformed(bytes, at);
    this.#state = LITERAL;
    this.#literal = literal;
    return this.#literalRest(bytes, at, end);
  }

  #literalRest(bytes: Uint8Array, from: number, end: number): number {
    const literal = this.#literal;
    const stop = Math.min(end, from + literal.length);
    for (let at = from; at < stop; at++) if (bytes[at] !== literal.charCodeAt(at - from)) throw malformed(bytes, at);
    this.#literal = literal.slice(stop - from);
    if (this.#literal === "") this.#valueEnd(stop);
    return stop;
  }

  #open(at: number, isArray: 0 | 1): void {
    if (this.#depth >= this.#maxDepth) throw tooDeep(at, this.#maxDepth);
    if (this.#depth > 0 && this.#depth % 16 === 0) {
      this.#outerArrays.push(this.#arrays);
      this.#arrays = 0;
    }
    this.#arrays = (this.#arrays << 1) | isArray;
    if (this.#depth++ > 0) this.#noted.conversation?.opened(at);
    this.#state = isArray === 1 ? FIRST_ITEM : FIRST_KEY;
  }

  #close(bytes: Uint8Array, end: number): void {
    this.#noted.conversation?.closed(bytes, end);
    this.#depth--;
    this.#arrays = this.#depth > 0 && this.#depth % 16 === 0 ? this.#outerArrays.pop()! : this.#arrays >> 1;
    if (this.#depth === 0) this.#state = BODY_END;
    else this.#valueEnd(end);
  }

  #valueEnd(end: number): void {
    this.#state = AFTER_VALUE;
    if (this.#depth === 1) this.#noted.valueEnded(this.#begin, end);
  }
}
