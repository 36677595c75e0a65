/**
 * What the prefix index says of one prompt. Each number is read when it is first asked for, and stays the same for this request.
 *
 * @example
 * score: ({ prefix }, candidates) => candidates.map(({ slot }) => prefix.matchedFraction(slot))
 */
export interface PrefixMatch {
  /** Prompt length in hashed blocks; 0 when the prompt is too short to index. Blocks grow along a prompt: don't multiply them. */
  readonly blocks: number;
  /** Leading blocks the endpoint in this slot is believed to hold. */
  matchedBlocks(slot: number): number;
  /** The same in tokens of the prompt, estimated. */
  matchedTokens(slot: number): number;
  /** The same as a share of all hashed blocks by length, in [0, 1]; 1 when the endpoint holds all that can be known. */
  matchedFraction(slot: number): number;
  /** Two words for each block, equal where prompts are equal up to its end. They mean nothing outside this process. */
  readonly hashes?: ArrayLike<number>;
  /** Tokens of one block, estimated. */
  tokensIn?(block: number): number;
}

/** A prompt nobody holds anything of. */
export const NO_PREFIX: PrefixMatch = { blocks: 0, matchedBlocks: () => 0, matchedTokens: () => 0, matchedFraction: () => 0 };
