import { CODE, ConnectionError } from "./frames.ts";
import { type Field, HeaderTable, sizeOf } from "./header-table.ts";
import { decodeHuffman } from "./huffman.ts";

/** The largest table that a peer may use, as long as nobody says otherwise (RFC 9113, 6.5.2). */
const TABLE_BYTES = 4096;
/** Bytes that a number may have behind its first one: seven bits of each make more than any length here. */
const MOST_NUMBER_BYTES = 4;

/** Decodes the header blocks of one connection (RFC 7541), one after the other. */
export class HeaderDecoder {
  readonly #table = new HeaderTable(TABLE_BYTES);
  readonly #maxListBytes: number;
  #block: Uint8Array = new Uint8Array(0);
  #at = 0;

  /** `maxListBytes`: the most that a decoded list may be, each header counted as in the table. */
  constructor(maxListBytes: number) {
    this.#maxListBytes = maxListBytes;
  }

  /** The block's headers in their order. Throws ConnectionError: what follows on the connection can't be decoded then. */
  decode(block: Uint8Array): Field[] {
    this.#block = block;
    this.#at = 0;
    const fields: Field[] = [];
    let bytes = 0;
    while (this.#at < block.length && isResize(block[this.#at]!)) this.#resize();
    while (this.#at < block.length) {
      const field = this.#field();
      bytes += sizeOf(field);
      if (bytes > this.#maxListBytes) throw new ConnectionError(CODE.enhanceYourCalm, "The headers are too large");
      fields.push(field);
    }
    return fields;
  }

  /** A change of the table's size, which only the beginning of a block may have (RFC 7541, 4.2). */
  #resize(): void {
    const size = this.#integer(5);
    if (size > TABLE_BYTES) throw broken("A header table is larger than allowed");
    this.#table.resize(size);
  }

  #field(): Field {
    const first = this.#block[this.#at]!;
    if (first >= 0x80) return this.#indexed(this.#integer(7));
    if (first >= 0x40) {
      const field = this.#literal(6);
      this.#table.add(field);
      return field;
    }
    if (isResize(first)) throw broken("A header table changes its size in the middle of a block");
    return this.#literal(4);
  }

  #literal(bits: number): Field {
    const index = this.#integer(bits);
    const name = index === 0 ? this.#text() : this.#indexed(index)[0];
    return [name, this.#text()];
  }

  #indexed(index: number): Field {
    const field = this.#table.at(index);
    if (field === undefined) throw broken("A header has an index that stands for nothing");
    return field;
  }

  /** RFC 7541, 5.1. More bytes than a number needs are refused: zeros without end would be a way to spend time. */
  #integer(bits: number): number {
    const most = 2 ** bits - 1;
    let value = this.#byte() & most;
    if (value < most) return value;
    for (let count = 0; count < MOST_NUMBER_BYTES; count++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * 128 ** count;
      if (byte < 0x80) return value;
    }
    throw broken("A number in a header block is too large");
  }

  /** RFC 7541, 5.2. */
  #text(): string {
    const isHuffman = (this.#block[this.#at] ?? 0) >= 0x80;
    const length = this.#integer(7);
    const start = this.#at;
    this.#at += length;
    if (this.#at > this.#block.length) throw broken("A header block is cut");
    if (!isHuffman) return Buffer.from(this.#block.buffer, this.#block.byteOffset + start, length).toString("latin1");
    const text = decodeHuffman(this.#block, start, this.#at);
    if (text === undefined) throw broken("A header is not what its Huffman code may be");
    return text;
  }

  #byte(): number {
    const byte = this.#block[this.#at];
    if (byte === undefined) throw broken("A header block is cut");
    this.#at += 1;
    return byte;
  }
}

function isResize(first: number): boolean {
  return first >= 0x20 && first < 0x40;
}

function broken(message: string): ConnectionError {
  return new ConnectionError(CODE.compression, message);
}
