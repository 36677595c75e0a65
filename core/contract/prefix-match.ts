/**
 * What the prefix index knows about one prompt. A slot's numbers are determined at the first read, and do not change after it.
 *
 * @example
 * score: ({ prefix }, candidates) => candidates.map(({ slot }) => prefix.matchedFraction(slot))
 */
export interface PrefixMatch {
  /** Prompt length in hashed blocks; 0 when the prompt is too short. Later blocks are longer, so a block has no fixed size. */
  readonly blocks: number;
  /** Leading blocks that the endpoint in this slot is believed to hold. */
  matchedBlocks(slot: number): number;
  /** The same in tokens of the prompt, estimated and corrected by what the replica reports. */
  matchedTokens(slot: number): number;
  /** The same as a share of the hashed bytes, in [0, 1]; 1 when the endpoint is believed to hold all hashed blocks. */
  matchedFraction(slot: number): number;
  /**
   * What it costs the endpoint's cache to hold `tokens` more: the tokens of other prompts that it would evict, times the chance that
   * they are asked for again, estimated. And up to 2 more, so that ties go to more room, then to older prompts.
   */
  displacedTokens?(slot: number, tokens: number): number;
  /** Two 32-bit words for each block, equal if prompts are equal up to its end. They have no meaning outside this process. */
  readonly hashes?: ArrayLike<number>;
  /** Tokens of one block, estimated. */
  tokensIn?(block: number): number;
}

/** A prompt of which no endpoint holds a block. */
export const NO_PREFIX: PrefixMatch = { blocks: 0, matchedBlocks: () => 0, matchedTokens: () => 0, matchedFraction: () => 0 };
