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

  /** A text or bytes, where they lie. */
  content(): Uint8Array {
    const { type } = this;
    if ((type & 0xe0) === 0xa0) return this.#slice(1, type & 0x1f);
    const width = CONTENT_WIDTHS[type];
    if (width === undefined) throw wrongType("a text");
    const at = this.#ahead(1 + width) + 1;
    const view = this.#view;
    return this.#slice(1 + width, width === 1 ? view.getUint8(at) : width === 2 ? view.getUint16(at) : view.getUint32(at));
  }

  /** A hash into `low` and `high`: a whole number, or a digest, whose last eight bytes count, as its engine takes them. */
  digest(): void {
    if (this.isNumber()) return this.number();
    const bytes = this.content();
    if (bytes.length < 8) throw wrongType("a hash");
    const view = new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 8, 8);
    this.high = view.getInt32(0);
    this.low = view.getInt32(4);
  }

  /** Passes over one value, with all that is in it. */
  skip(): void {
    for (let values = 1; values > 0; values--) {
      const { type } = this;
      if (this.isList()) values += this.list();
      else if (this.isMap()) values += 2 * this.map();
      else if (this.isText() || this.isBytes()) this.content();
      else this.#take(1 + (SKIPPED_WIDTHS[type] ?? this.#extension(type)));
      if (values > this.left + 1) throw new RangeError("the bytes end too early");
    }
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
    if (type >= 0xd4 && type <= 0xd8) return 1 + 2 ** (type - 0xd4);
    if (type === 0xc7) return 2 + this.#view.getUint8(this.#ahead(2) + 1);
    if (type === 0xc8) return 3 + this.#view.getUint16(this.#ahead(3) + 1);
    if (type === 0xc9) return 5 + this.#view.getUint32(this.#ahead(5) + 1);
    if (type < 0x80 || type >= 0xe0) return 0;
    throw wrongType("MessagePack");
  }

  #slice(head: number, length: number): Uint8Array {
    const start = this.#take(head + length) + head;
    return this.#bytes.subarray(start, start + length);
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
/** Of the lengths of long texts and of bytes. */
const CONTENT_WIDTHS: Readonly<Record<number, number>> = { 196: 1, 197: 2, 198: 4, 217: 1, 218: 2, 219: 4 };
/** Bytes behind the type: nil, booleans, floats, numbers. */
const SKIPPED_WIDTHS: Readonly<Record<number, number>> = {
  ...{ 192: 0, 194: 0, 195: 0, 202: 4, 203: 8 },
  ...{ 204: 1, 205: 2, 206: 4, 207: 8, 208: 1, 209: 2, 210: 4, 211: 8 },
};

const wrongType = (wanted: string) => new RangeError(`what should be ${wanted} is something else`);
