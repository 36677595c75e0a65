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
    const low = Math.imul(this.low ^ value, 0x9e3779b1);
    this.high = Math.imul((this.high + value) ^ (low >>> 15), 0x85ebca6b);
    this.low = ((low << 13) | (low >>> 19)) ^ (this.high >>> 17);
  }

  addBytes(bytes: Uint8Array): void {
    this.add(bytes.length);
    for (const byte of bytes) this.add(byte);
  }

  /** Of a block: what is before it, its tokens, and what else its content depends on. */
  link(tokensLow: number, tokensHigh: number, extraLow: number, extraHigh: number): void {
    this.add(tokensLow);
    this.add(tokensHigh);
    this.add(extraLow);
    this.add(extraHigh);
  }
}
