import { CR, FIELD, HEX_VALUE, LF, OCTET, QUOTED, TOKEN } from "./octets.ts";
import { WireError } from "./wire-error.ts";

/** 16 hexadecimal digits hold any size there is; more are leading zeros meant to wear us out. */
const SIZE_DIGITS = 16;
/** Extensions and trailers mean nothing to us and are dropped: little room for both, per body. */
const EXTENSION_BYTES = 16 * 1024;
const TRAILER_BYTES = 16 * 1024;
/** Spans kept from one body to the next; a read full of tiny chunks may grow the array, for that body only. */
const KEPT_SPANS = 64;

const QUOTE = 0x22;
const COLON = 0x3a;
const SEMICOLON = 0x3b;
const EQUALS = 0x3d;
const BACKSLASH = 0x5c;

// Where the decoder is: RFC 9112 7.1, in order.
const SIZE_FIRST = 0;
const SIZE = 1;
const EXTENSION_FIRST = 2;
const EXTENSION_NAME = 3;
const EXTENSION_VALUE_FIRST = 4;
const EXTENSION_VALUE = 5;
const QUOTED_VALUE = 6;
const QUOTED_PAIR = 7;
const QUOTED_END = 8;
const SIZE_LF = 9;
const DATA = 10;
const DATA_CR = 11;
const DATA_LF = 12;
const TRAILER_FIRST = 13;
const TRAILER_NAME = 14;
const TRAILER_VALUE = 15;
const TRAILER_LF = 16;
const END_LF = 17;
const DONE = 18;

/** Takes chunked bodies apart (RFC 9112 7.1) without copying: each push says where in its bytes the data is. */
export class ChunkedDecoder {
  #state = SIZE_FIRST;
  /** Bytes of data left in the chunk; while the size is read, the size so far. */
  #left = 0;
  #digits = 0;
  #extensionBytes = 0;
  #trailerBytes = 0;
  #spans = new Int32Array(2 * KEPT_SPANS);
  #spanCount = 0;
  #dataBytes = 0;
  #end = 0;
  #isVerbatim = true;

  /** Where the data is after a push: `spanCount` pairs of [start, end) in its chunk. Valid until the next push. */
  get spans(): Int32Array {
    return this.#spans;
  }

  get spanCount(): number {
    return this.#spanCount;
  }

  /** Bytes in all spans together. */
  get dataBytes(): number {
    return this.#dataBytes;
  }

  get isDone(): boolean {
    return this.#state === DONE;
  }

  /** The offset after the last byte that was read: the chunk's length, or where the body ended. */
  get end(): number {
    return this.#end;
  }

  /** Whether what the last push read is whole chunks without extension or trailer, fit to be passed on as it is. */
  get isVerbatim(): boolean {
    return this.#isVerbatim;
  }

  /** Makes ready for the next body. */
  reset(): void {
    this.#state = SIZE_FIRST;
    this.#left = 0;
    this.#digits = 0;
    this.#extensionBytes = 0;
    this.#trailerBytes = 0;
    if (this.#spans.length > 2 * KEPT_SPANS) this.#spans = new Int32Array(2 * KEPT_SPANS);
    this.#spanCount = 0;
    this.#dataBytes = 0;
    this.#end = 0;
    this.#isVerbatim = true;
  }

  /** Reads from `start` to the end of the chunk or of the body. Throws WireError at the first byte that cannot be right. */
  push(chunk: Buffer, start: number): void {
    this.#spanCount = 0;
    this.#dataBytes = 0;
    this.#isVerbatim = this.#state === SIZE_FIRST;
    this.#end = this.#read(chunk, start);
    if (this.#state !== SIZE_FIRST && this.#state !== DONE) this.#isVerbatim = false;
  }

  #read(chunk: Buffer, start: number): number {
    const last = chunk.length;
    let state = this.#state;
    let at = start;
    for (; at < last && state !== DONE; at++) {
      const octet = chunk[at]!;
      switch (state) {
        case SIZE_FIRST:
          if (HEX_VALUE[octet] === 16) throw badSize(); // RFC 9112 7.1: 1*HEXDIG
          this.#left = HEX_VALUE[octet]!;
          this.#digits = 1;
          state = SIZE;
          break;
        case SIZE: {
          const digit = HEX_VALUE[octet]!;
          if (digit < 16) {
            this.#left = this.#left * 16 + digit;
            if (++this.#digits > SIZE_DIGITS || this.#left > Number.MAX_SAFE_INTEGER) throw badSize(); // RFC 9112 7.1: overflow
          } else if (octet === CR) state = SIZE_LF;
          else if (octet === SEMICOLON) state = EXTENSION_FIRST;
          else throw badSize(); // RFC 9112 7.1.1 has white space here parsed away; some read it as the end of the size
          break;
        }
        case SIZE_LF:
          if (octet !== LF) throw bareCr();
          state = this.#left === 0 ? TRAILER_FIRST : DATA; // RFC 9112 7.1: last-chunk
          break;
        case DATA: {
          const length = Math.min(this.#left, last - at);
          this.#addSpan(at, at + length);
          this.#left -= length;
          at += length - 1;
          if (this.#left === 0) state = DATA_CR;
          break;
        }
        case DATA_CR:
          if (octet !== CR) throw badFraming("A chunk is longer than its size says; make the size match."); // RFC 9112 7.1
          state = DATA_LF;
          break;
        case DATA_LF:
          if (octet !== LF) throw bareCr();
          state = SIZE_FIRST;
          break;
        case END_LF:
          if (octet !== LF) throw bareCr();
          state = DONE;
          break;
        default:
          if (state === TRAILER_FIRST && octet === CR) {
            state = END_LF;
            break;
          }
          this.#isVerbatim = false;
          state = state >= TRAILER_FIRST ? this.#readTrailer(state, octet) : this.#readExtension(state, octet);
      }
    }
    this.#state = state;
    return at;
  }

  #addSpan(start: number, end: number): void {
    const at = 2 * this.#spanCount++;
    if (at === this.#spans.length) {
      const wider = new Int32Array(2 * at);
      wider.set(this.#spans);
      this.#spans = wider;
    }
    this.#spans[at] = start;
    this.#spans[at + 1] = end;
    this.#dataBytes += end - start;
  }

  /** RFC 9112 7.1.1, without the white space that only a recipient may find there; returns the next state. */
  #readExtension(state: number, octet: number): number {
    if (++this.#extensionBytes > EXTENSION_BYTES) throw badFraming("Chunk extensions are too long; leave them out.");
    const bits = OCTET[octet]!;
    switch (state) {
      case EXTENSION_FIRST:
        if ((bits & TOKEN) !== 0) return EXTENSION_NAME;
        break;
      case EXTENSION_NAME:
        if ((bits & TOKEN) !== 0) return EXTENSION_NAME;
        if (octet === EQUALS) return EXTENSION_VALUE_FIRST;
        return afterExtension(octet);
      case EXTENSION_VALUE_FIRST:
        if (octet === QUOTE) return QUOTED_VALUE;
        if ((bits & TOKEN) !== 0) return EXTENSION_VALUE;
        break;
      case EXTENSION_VALUE:
        if ((bits & TOKEN) !== 0) return EXTENSION_VALUE;
        return afterExtension(octet);
      case QUOTED_VALUE: // RFC 9110 5.6.4
        if ((bits & QUOTED) !== 0) return QUOTED_VALUE;
        if (octet === QUOTE) return QUOTED_END;
        if (octet === BACKSLASH) return QUOTED_PAIR;
        break;
      case QUOTED_PAIR: // RFC 9110 5.6.4
        if ((bits & FIELD) !== 0) return QUOTED_VALUE;
        break;
      case QUOTED_END:
        return afterExtension(octet);
    }
    throw badExtension();
  }

  /** RFC 9112 7.1.2: field lines as in a head (RFC 9112 5), bounded and dropped; returns the next state. */
  #readTrailer(state: number, octet: number): number {
    if (++this.#trailerBytes > TRAILER_BYTES) throw badFraming("The trailers are too long; leave them out.");
    const bits = OCTET[octet]!;
    switch (state) {
      case TRAILER_FIRST:
        if ((bits & TOKEN) !== 0) return TRAILER_NAME;
        break;
      case TRAILER_NAME:
        if ((bits & TOKEN) !== 0) return TRAILER_NAME;
        if (octet === COLON) return TRAILER_VALUE;
        break;
      case TRAILER_VALUE:
        if ((bits & FIELD) !== 0) return TRAILER_VALUE;
        if (octet === CR) return TRAILER_LF;
        break;
      case TRAILER_LF:
        if (octet === LF) return TRAILER_FIRST;
        break;
    }
    throw badFraming("The trailers are not valid header lines; leave them out.");
  }
}

function afterExtension(octet: number): number {
  if (octet === SEMICOLON) return EXTENSION_FIRST;
  if (octet === CR) return SIZE_LF;
  throw badExtension();
}

const badFraming = (message: string) => new WireError("bad_framing", message);
const badSize = () => badFraming("A chunk size is not valid; send hexadecimal digits and CRLF.");
const badExtension = () => badFraming("A chunk extension is not valid; leave it out.");
const bareCr = () => badFraming("A CR stands without LF; end lines with CRLF.");
