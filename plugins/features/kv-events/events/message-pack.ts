import type { Words } from "./words.ts";

/**
 * Reads MessagePack where it lies, without making values of it: events come by the thousand, and most of their bytes are token ids that
 * are only hashed. Each method throws a RangeError where the bytes end, or are of another type.
 */
export class MessagePack {
  #bytes: Uint8Array = new Uint8Array(0);
  #view: DataView = new DataView(this.#bytes.buffer);
  at = 0;
  /** The 64-bit number that `number` or `digest` read, as two words. */
  low = 0;
  high = 0;

  use(bytes: Uint8Array): void {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.at = 0;
  }

  get left(): number {
    return this.#bytes.length - this.at;
  }

  /** The byte that says of what type the next value is. */
  get type(): number {
    if (this.at >= this.#bytes.length) throw new RangeError("the bytes end too early");
    return this.#bytes[this.at]!;
  }

  /** Takes a nil, if the next value is one. */
  nil(): boolean {
    if (this.type !== 0xc0) return false;
    this.at += 1;
    return true;
  }

  isList(): boolean {
    const { type } = this;
    return (type & 0xf0) === 0x90 || type === 0xdc || type === 0xdd;
  }

  isMap(): boolean {
    const { type } = this;
    return (type & 0xf0) === 0x80 || type === 0xde || type === 0xdf;
  }

  isText(): boolean {
    const { type } = this;
    return (type & 0xe0) === 0xa0 || (type >= 0xd9 && type <= 0xdb);
  }

  isBytes(): boolean {
    return this.type >= 0xc4 && this.type <= 0xc6;
  }

  isNumber(): boolean {
    const { type } = this;
    return type < 0x80 || type >= 0xe0 || (type >= 0xcc && type <= 0xd3);
  }

  /** Length of the list whose members follow. */
  list(): number {
    if (!this.isList()) throw wrongType("a list");
    return this.#members(0xdc, 0x90, 1);
  }

  /** Number of the pairs that follow. */
  map(): number {
    if (!this.isMap()) throw wrongType("a map");
    return this.#members(0xde, 0x80, 2);
  }

  /** Reads a whole number into `low` and `high`; a negative one as its two's complement. */
  number(): void {
    const { type } = this;
    const width = NUMBER_WIDTHS[type - 0xcc];
    if (type < 0x80 || type >= 0xe0) {
      this.at += 1;
      this.#set((type << 24) >> 24);
      return;
    }
    if (width === undefined) throw wrongType("a whole number");
    const at = this.#take(1 + width) + 1;
    const view = this.#view;
    const isSigned = type >= 0xd0;
    if (width === 8) {
      this.high = view.getInt32(at);
      this.low = view.getInt32(at + 4);
    } else if (width === 4) {
      this.low = view.getInt32(at);
      this.high = isSigned ? this.low >> 31 : 0;
    } else if (width === 2) this.#set(isSigned ? view.getInt16(at) : view.getUint16(at));
    else this.#set(isSigned ? view.getInt8(at) : view.getUint8(at));
  }

  /** Reads a whole number from 0 to `most`, which is below 2^31. */
  count(most: number): number {
    this.number();
    if (this.high !== 0 || this.low < 0 || this.low > most) throw new RangeError(`a number is not from 0 to ${most}`);
    return this.low;
  }

  /** A text or bytes, where they lie. */
  content(): Uint8Array {
    const length = this.#contentLength();
    const start = this.#take(length);
    return this.#bytes.subarray(start, start + length);
  }

  /** Passes over a text; its index among these, or -1. */
  word(words: Words): number {
    const length = this.#contentLength();
    return words.find(this.#bytes, this.#take(length), length);
  }

  /** A hash into `low` and `high`: a whole number, or a digest, whose last eight bytes count, as its engine takes them. */
  digest(): void {
    if (this.isNumber()) return this.number();
    const length = this.#contentLength();
    if (length < 8) throw wrongType("a hash");
    const end = this.#take(length) + length;
    this.high = this.#view.getInt32(end - 8);
    this.low = this.#view.getInt32(end - 4);
  }

  /** So many hashes, each as two words, the lower one first. Nearly all are numbers of 64 bits. */
  digests(count: number, into: Int32Array): void {
    const view = this.#view;
    for (let i = 0; i < count; i++) {
      const { at } = this;
      if (this.left > 8 && view.getUint8(at) === 0xcf) {
        into[2 * i + 1] = view.getInt32(at + 1);
        into[2 * i] = view.getInt32(at + 5);
        this.at = at + 9;
        continue;
      }
      this.digest();
      into[2 * i] = this.low;
      into[2 * i + 1] = this.high;
    }
  }

  /**
   * Reads so many whole numbers of 32 bits: token ids, which are most of what an event has. Their lengths follow no rule, so one way for all
   * of them, without a branch, is the fastest: the last of a number's bytes are its value.
   */
  numbers(count: number, into: Int32Array): void {
    const bytes = this.#bytes;
    const view = this.#view;
    const last = bytes.length - WORD_BYTES;
    let { at } = this;
    for (let i = 0; i < count; i++) {
      const type = bytes[at]!;
      const mask = VALUE_MASKS[type]!;
      const word = at + LENGTHS[type]! - WORD_BYTES;
      if (mask !== 0 && word >= 0 && word <= last) {
        into[i] = view.getInt32(word) & mask;
        at = word + WORD_BYTES;
        continue;
      }
      this.at = at;
      this.number();
      if (this.high !== 0 && (this.high !== -1 || this.low >= 0)) throw new RangeError("a token id has more than 32 bits");
      into[i] = this.low;
      at = this.at;
    }
    this.at = at;
  }

  /** Passes over one value, with all that is in it. */
  skip(): void {
    const bytes = this.#bytes;
    let { at } = this;
    for (let values = 1; values > 0; values--) {
      const length = at < bytes.length ? LENGTHS[bytes[at]!]! : 0;
      at += length;
      if (length > 0) continue;
      this.at = at;
      if (this.isList()) values += this.list();
      else if (this.isMap()) values += 2 * this.map();
      else if (this.isText() || this.isBytes()) this.#take(this.#contentLength());
      else this.#take(this.#extension(this.type));
      at = this.at;
      if (values > this.left + 1) throw new RangeError("the bytes end too early");
    }
    if (at > bytes.length) throw new RangeError("the bytes end too early");
    this.at = at;
  }

  #set(value: number): void {
    this.low = value;
    this.high = value >> 31;
  }

  /** Each member takes a byte at least, so a longer list can't be. */
  #members(long: number, short: number, bytesEach: number): number {
    const { type } = this;
    let count = type & 0x0f;
    if ((type & 0xf0) === short && type < 0xc0) this.at += 1;
    else if (type === long) count = this.#view.getUint16(this.#take(3) + 1);
    else count = this.#view.getUint32(this.#take(5) + 1);
    if (count * bytesEach > this.left) throw new RangeError("the bytes end too early");
    return count;
  }

  #extension(type: number): number {
    if (type === 0xc7) return 3 + this.#view.getUint8(this.#ahead(2) + 1);
    if (type === 0xc8) return 4 + this.#view.getUint16(this.#ahead(3) + 1);
    if (type === 0xc9) return 6 + this.#view.getUint32(this.#ahead(5) + 1);
    throw wrongType("MessagePack");
  }

  /** Of a text or bytes, whose head it passes over. */
  #contentLength(): number {
    const { type } = this;
    if ((type & 0xe0) === 0xa0) {
      this.at += 1;
      return type & 0x1f;
    }
    const width =
      type === 0xc4 || type === 0xd9 ? 1 : type === 0xc5 || type === 0xda ? 2 : type === 0xc6 || type === 0xdb ? 4 : 0;
    if (width === 0) throw wrongType("a text");
    const at = this.#take(1 + width) + 1;
    const view = this.#view;
    return width === 1 ? view.getUint8(at) : width === 2 ? view.getUint16(at) : view.getUint32(at);
  }

  #ahead(length: number): number {
    if (length > this.left) throw new RangeError("the bytes end too early");
    return this.at;
  }

  #take(length: number): number {
    const at = this.#ahead(length);
    this.at += length;
    return at;
  }
}

/** Of uint8 to int64, from 0xcc on. */
const NUMBER_WIDTHS = [1, 2, 4, 8, 1, 2, 4, 8];
/** Of values whose length their first byte says, their whole length; 0 for others. */
const LENGTHS = Uint8Array.from({ length: 256 }, (_, type) => {
  if (type < 0x80 || type >= 0xe0 || type === 0xc0 || type === 0xc2 || type === 0xc3) return 1;
  if (type >= 0xa0 && type < 0xc0) return 1 + (type & 0x1f);
  if (type >= 0xcc && type <= 0xd3) return 1 + NUMBER_WIDTHS[type - 0xcc]!;
  if (type >= 0xd4 && type <= 0xd8) return 2 + 2 ** (type - 0xd4);
  return type === 0xca ? 5 : type === 0xcb ? 9 : 0;
});

const WORD_BYTES = 4;
/** Of numbers that are not negative and have a word at most: which bits of their last four bytes are their value. 0 for other values. */
const VALUE_MASKS = Int32Array.from({ length: 256 }, (_, type) => {
  if (type < 0x80) return 0x7f;
  return type === 0xcc ? 0xff : type === 0xcd ? 0xffff : type === 0xce ? -1 : 0;
});

const wrongType = (wanted: string) => new RangeError(`what should be ${wanted} is something else`);
