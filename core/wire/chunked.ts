import { CR, FIELD, HEX_VALUE, LF, OCTET, QUOTED, TOKEN } from "./octets.ts";
import { WireError } from "./wire-error.ts";

/** 16 hexadecimal digits are enough for any size. More are leading zeros, sent to cost us time. */
const SIZE_DIGITS = 16;
/** Extensions and trailers are dropped, so little of them is accepted: so many bytes of each per body. */
const EXTENSION_BYTES = 16 * 1024;
const TRAILER_BYTES = 16 * 1024;
/** Spans that the array has room for at the start of a response. A read full of short chunks makes it grow, for that body only. */
const KEPT_SPANS = 64;
/**
 * The most spans of one read, because every reader of the response takes a step for each span. Data beyond them is moved to the end of the
 * last one.
 */
const MOST_RESPONSE_SPANS = 1024;
/** A request is gathered in one piece anyway. */
const MOST_REQUEST_SPANS = 1;
/** Moved in a loop: a call costs more. */
const FEW_BYTES = 32;
/**
 * Data of one byte costs six bytes to send and to read. Generators of JSON send such chunks, one for each number or comma; with so many
 * of them, a request is meant to cost us time. A response may have any number: a replica sends one for each token.
 */
const TINY_BYTES = 16;
const MOST_TINY_CHUNKS = 256 * 1024;

const QUOTE = 0x22;
const COLON = 0x3a;
const SEMICOLON = 0x3b;
const EQUALS = 0x3d;
const BACKSLASH = 0x5c;

// What the decoder expects next (RFC 9112 7.1), in the order of a body.
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

/**
 * Decodes chunked bodies (RFC 9112 7.1): after each push, `spans` says where in its bytes the data is. The data is copied only where there
 * are too many spans; then it is moved together, within the bytes that were pushed.
 */
export class ChunkedDecoder {
  readonly #mostSpans: number;
  readonly #keptSpans: number;
  readonly #mostTinyChunks: number;
  #state = SIZE_FIRST;
  /** Bytes of data left in the chunk; while its size is being read, the size so far. */
  #left = 0;
  #digits = 0;
  #extensionBytes = 0;
  #trailerBytes = 0;
  #tinyChunks = 0;
  #spans: Int32Array;
  #spanCount = 0;
  #dataBytes = 0;
  #end = 0;
  #isVerbatim = true;

  constructor(kind: "request" | "response") {
    const isRequest = kind === "request";
    this.#mostSpans = isRequest ? MOST_REQUEST_SPANS : MOST_RESPONSE_SPANS;
    this.#mostTinyChunks = isRequest ? MOST_TINY_CHUNKS : Number.POSITIVE_INFINITY;
    this.#keptSpans = Math.min(KEPT_SPANS, this.#mostSpans);
    this.#spans = new Int32Array(2 * this.#keptSpans);
  }

  /** The data of the last push, as `spanCount` pairs of [start, end) in its bytes. Valid until the next push. */
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

  /** The offset after the last byte that was read: the length of the bytes pushed, or where the body ended in them. */
  get end(): number {
    return this.#end;
  }

  /** Whether the last push read whole chunks only, without extension or trailer, so that its bytes can be passed on as they are. */
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
    this.#tinyChunks = 0;
    if (this.#spans.length > 2 * this.#keptSpans) this.#spans = new Int32Array(2 * this.#keptSpans);
    this.#spanCount = 0;
    this.#dataBytes = 0;
    this.#end = 0;
    this.#isVerbatim = true;
  }

  /** Reads from `start` to the end of `chunk` or of the body. Throws WireError at the first wrong byte. */
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
          else throw badSize(); // RFC 9112 7.1.1 allows white space here; some parsers take it for the end of the size
          break;
        }
        case SIZE_LF:
          if (octet !== LF) throw bareCr();
          state = this.#left === 0 ? TRAILER_FIRST : DATA; // RFC 9112 7.1: last-chunk
          if (state === DATA && this.#left < TINY_BYTES && ++this.#tinyChunks > this.#mostTinyChunks)
            throw badFraming(TOO_MANY_TINY);
          break;
        case DATA: {
          const length = Math.min(this.#left, last - at);
          this.#addSpan(chunk, at, at + length);
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

  #addSpan(chunk: Buffer, start: number, end: number): void {
    this.#dataBytes += end - start;
    if (this.#spanCount === this.#mostSpans) return this.#join(chunk, start, end);
    const at = 2 * this.#spanCount++;
    if (at === this.#spans.length) {
      const wider = new Int32Array(2 * at);
      wider.set(this.#spans);
      this.#spans = wider;
    }
    this.#spans[at] = start;
    this.#spans[at + 1] = end;
  }

  /** Moves the data to the end of the last span, over framing that has been read. */
  #join(chunk: Buffer, start: number, end: number): void {
    const endAt = 2 * this.#spanCount - 1;
    let to = this.#spans[endAt]!;
    this.#spans[endAt] = to + end - start;
    this.#isVerbatim = false;
    if (end - start > FEW_BYTES) chunk.copyWithin(to, start, end);
    else for (let from = start; from < end; from++) chunk[to++] = chunk[from]!;
  }

  /** RFC 9112 7.1.1, but without the optional white space. Returns the next state. */
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

  /** RFC 9112 7.1.2: field lines as in a head (RFC 9112 5), bounded and dropped. Returns the next state. */
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

const TOO_MANY_TINY = `More than ${MOST_TINY_CHUNKS} chunks have less than ${TINY_BYTES} bytes; send larger ones, or Content-Length.`;
const badFraming = (message: string) => new WireError("bad_framing", message);
const badSize = () => badFraming("A chunk size is not valid; send hexadecimal digits and CRLF.");
const badExtension = () => badFraming("A chunk extension is not valid; leave it out.");
const bareCr = () => badFraming("A CR stands without LF; end lines with CRLF.");
