// The router's own keys of engine blocks: equal if everything up to the block's end is equal, in any engine. An engine's own hashes
// differ from process to process and from version to version, so they only name blocks of that engine.

const secret = crypto.getRandomValues(new Int32Array(2));

/** A running hash of numbers, in two words. It depends on a secret of this process, so that nobody can prepare prompts that collide. */
export class BlockHash {
  low = 0;
  high = 0;

  begin(low = secret[0]!, high = secret[1]!): void {
    this.low = low;
    this.high = high;
  }

  add(value: number): void {
    this.#addTwo(value, 0);
  }

  /** Adds so many of the numbers, from `start` on, two at a time. It is `#addTwo` in a loop: most of what events have passes here. */
  addAll(values: ArrayLike<number>, start: number, count: number): void {
    let { low, high } = this;
    const end = start + count;
    for (let at = start; at + 1 < end; at += 2) {
      const mixed = Math.imul(low ^ values[at]!, 0x9e3779b1);
      high = Math.imul((high + values[at + 1]!) ^ (mixed >>> 15), 0x85ebca6b);
      low = ((mixed << 13) | (mixed >>> 19)) ^ (high >>> 17);
    }
    this.low = low;
    this.high = high;
    if (count % 2 === 1) this.add(values[end - 1]!);
  }

  addBytes(bytes: Uint8Array): void {
    this.add(bytes.length);
    this.addAll(bytes, 0, bytes.length);
  }

  /** Of a block: what is before it, its tokens, and what else its content depends on. */
  link(tokensLow: number, tokensHigh: number, extraLow: number, extraHigh: number): void {
    this.#addTwo(tokensLow, tokensHigh);
    this.#addTwo(extraLow, extraHigh);
  }

  /** Each goes into one of the words, and can be told from any other there. */
  #addTwo(one: number, other: number): void {
    const mixed = Math.imul(this.low ^ one, 0x9e3779b1);
    this.high = Math.imul((this.high + other) ^ (mixed >>> 15), 0x85ebca6b);
    this.low = ((mixed << 13) | (mixed >>> 19)) ^ (this.high >>> 17);
  }
}
