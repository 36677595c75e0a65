// MessagePack as vLLM publishes the events of its cache.

/** A block by its engine's hash, in two words. */
export interface BlockName {
  readonly high: number;
  readonly low: number;
}

/** So many equal tokens. */
export interface TokenRun {
  readonly token: number;
  readonly count: number;
}

const FIRST_BYTES = 64 * 1024;
const UTF8 = new TextEncoder();

/** Writes one batch of events after the other. */
export class EventWriter {
  #bytes = new Uint8Array(FIRST_BYTES);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;
  events = 0;

  stored(blocks: readonly BlockName[], parent: BlockName | undefined, runs: readonly TokenRun[], blockTokens: number): void {
    this.events += 1;
    this.#map(5);
    this.#text("type");
    this.#text("BlockStored");
    this.#text("block_hashes");
    this.#list(blocks.length);
    for (const block of blocks) this.#hash(block);
    this.#text("parent_block_hash");
    if (parent === undefined) this.#byte(0xc0);
    else this.#hash(parent);
    this.#text("token_ids");
    this.#list(runs.reduce((sum, { count }) => sum + count, 0));
    for (const { token, count } of runs) for (let left = count; left > 0; left--) this.#number(token);
    this.#text("block_size");
    this.#number(blockTokens);
  }

  removed(blocks: readonly BlockName[]): void {
    this.events += 1;
    this.#map(2);
    this.#text("type");
    this.#text("BlockRemoved");
    this.#text("block_hashes");
    this.#list(blocks.length);
    for (const block of blocks) this.#hash(block);
  }

  /** The batch of all events since the last one, published at this time in seconds. */
  take(timeS: number): Uint8Array {
    const head = 10 + 5;
    const batch = new Uint8Array(head + this.#length + 1);
    const view = new DataView(batch.buffer);
    batch[0] = 0x93;
    batch[1] = 0xcb;
    view.setFloat64(2, timeS);
    batch[10] = 0xdd;
    view.setUint32(11, this.events);
    batch.set(this.#bytes.subarray(0, this.#length), head);
    this.#length = 0;
    this.events = 0;
    return batch;
  }

  #map(members: number): void {
    this.#byte(0x80 | members);
  }

  #list(members: number): void {
    this.#room(5);
    this.#bytes[this.#length] = 0xdd;
    this.#view.setUint32(this.#length + 1, members);
    this.#length += 5;
  }

  #text(text: string): void {
    this.#byte(0xa0 | text.length);
    this.#room(text.length);
    this.#length += UTF8.encodeInto(text, this.#bytes.subarray(this.#length)).written;
  }

  #hash({ high, low }: BlockName): void {
    this.#room(9);
    this.#bytes[this.#length] = 0xcf;
    this.#view.setUint32(this.#length + 1, high);
    this.#view.setUint32(this.#length + 5, low);
    this.#length += 9;
  }

  #number(value: number): void {
    this.#room(5);
    this.#bytes[this.#length] = 0xce;
    this.#view.setUint32(this.#length + 1, value);
    this.#length += 5;
  }

  #byte(value: number): void {
    this.#room(1);
    this.#bytes[this.#length++] = value;
  }

  #room(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const larger = new Uint8Array(2 * this.#bytes.length);
    larger.set(this.#bytes);
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}
