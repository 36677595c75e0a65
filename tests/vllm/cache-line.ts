import type { AccessLine } from "../support/router.ts";

/** What an access log line says of a prompt's cached tokens: the engine's count and what the router believed. */
export interface CacheLine extends AccessLine {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly predictedCachedTokens: number;
}
