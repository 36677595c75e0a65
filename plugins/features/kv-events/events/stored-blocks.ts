/** The most blocks of one event. */
export const MOST_BLOCKS = 65_536;

/** Blocks that an engine has stored, one after the other. It is used again for the next event. */
export class StoredBlocks {
  count = 0;
  /** Two words for each block, low and high: the engine's hashes. */
  hashes = new Int32Array(128);
  /** The hashes of their tokens, alone. */
  tokens = new Int32Array(128);
  /** The hashes of what else their content depends on, such as an adapter and a salt; 0 and 0 for nothing. */
  extras = new Int32Array(128);
  /** Whether the blocks follow another one, whose hash these two words are. */
  hasParent = false;
  parentLow = 0;
  parentHigh = 0;
  /** Tokens in each; 0 if the event does not say which tokens they are. */
  blockTokens = 0;

  begin(count: number): void {
    this.count = count;
    this.blockTokens = 0;
    this.hasParent = false;
    if (2 * count > this.hashes.length) {
      const words = 2 ** Math.ceil(Math.log2(2 * count));
      this.hashes = new Int32Array(words);
      this.tokens = new Int32Array(words);
      this.extras = new Int32Array(words);
    }
    this.extras.fill(0, 0, 2 * count);
  }
}
