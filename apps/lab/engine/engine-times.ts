/** How fast an engine computes, and how much it holds. */
export interface EngineTimes {
  readonly prefillTokensPerS: number;
  readonly decodeStepMs: number;
  readonly decodePerRequestMs: number;
  /** Fixed duration of every step. */
  readonly overheadMs: number;
  /** Most prompt tokens computed in one step, over all prompts together. */
  readonly chunkTokens: number;
  /** Most requests computed at the same time; the others wait. */
  readonly maxRunning: number;
  /** Size of the KV cache in tokens. */
  readonly kvTokens: number;
  readonly blockTokens: number;
  /** What the transfer of a prompt's cache from another engine takes before its first byte. */
  readonly transferMs: number;
  /** Tokens whose cache the network carries to or from one engine in a second. */
  readonly transferTokensPerS: number;
}

/**
 * The published parameters of SMG's mock worker, an H100-class replica; a cache of 128 KiB a token, as of a Llama of 8 billion
 * parameters, over a network of 25 GB/s.
 */
export const ENGINE_TIMES: EngineTimes = {
  prefillTokensPerS: 8_000,
  decodeStepMs: 6,
  decodePerRequestMs: 0.35,
  overheadMs: 1,
  chunkTokens: 2_048,
  maxRunning: 256,
  kvTokens: 524_288,
  blockTokens: 16,
  transferMs: 10,
  transferTokensPerS: 200_000,
};
