/** A hashed prompt, as the prefix index has it. */
export interface HashedChain {
  readonly blocks: number;
  /** Two 32-bit words for each block. */
  readonly hashes: ArrayLike<number>;
  /** Tokens of one block, estimated. */
  tokensIn(block: number): number;
}

/**
 * Somebody who knows better than the prefix index what the replicas' caches hold.
 *
 * @example
 * const witness = { about: (chain) => (chain.blocks === 0 ? undefined : { heldTokens: (slot) => (slot === 0 ? 0 : undefined) }) };
 */
export interface CacheWitness {
  /** Called once for each prompt, when it is hashed; undefined: nothing is known of it. */
  about(chain: HashedChain): CacheTestimony | undefined;
}

export interface CacheTestimony {
  /**
   * Tokens of the prompt that the endpoint in this slot holds; undefined: the index, which believes in `believed`, decides. The first
   * answer for a slot counts for the prompt.
   */
  heldTokens(slot: number, believed: number): number | undefined;
}
