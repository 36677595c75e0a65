/** A cache is looked at in so many parts. */
const PARTS = 16;
/** What was seen counts half after this time. */
const HALF_LIFE_MS = 600_000;
/** So many more prompts must be lost than kept before a cache counts as smaller: a client may send another prompt than the one before. */
const LEAST_PROOF = 4;

/**
 * How much of a replica's cache sessions really have. Other requests may use the cache too, and an engine may keep less than it says. A
 * prompt that was in the cache is found there again, or not; in between, sessions with so many tokens had their turns there. The room is
 * the number of tokens up to which more prompts were found than lost.
 */
export class CacheRoom {
  readonly #found = new Float64Array(PARTS);
  #seenMs = Number.NaN;
  /** An engine that never says that it found one may not count them. */
  #hasFound = false;

  /** A prompt came back after sessions with so many tokens, its own included, had used a cache of this size. */
  seen(isFound: boolean, usedTokens: number, cacheTokens: number, nowMs: number): void {
    this.#hasFound ||= isFound;
    if (!this.#hasFound) return;
    this.#fade(nowMs);
    const part = Math.min(PARTS - 1, Math.floor((PARTS * usedTokens) / cacheTokens));
    if (part >= 0) this.#found[part]! += isFound ? 1 : -1;
  }

  /** The part of the cache that sessions have, above 0 and up to 1. */
  share(nowMs: number): number {
    this.#fade(nowMs);
    let best = 0;
    let share = 0;
    let sum = 0;
    for (let part = 0; part < PARTS; part++) {
      sum += this.#found[part]!;
      if (sum < best) continue;
      best = sum;
      share = (part + 1) / PARTS;
    }
    return best - sum >= LEAST_PROOF ? Math.max(share, 1 / PARTS) : 1;
  }

  #fade(nowMs: number): void {
    const factor = 0.5 ** ((nowMs - this.#seenMs) / HALF_LIFE_MS);
    this.#seenMs = nowMs;
    if (!(factor < 1)) return;
    for (let part = 0; part < PARTS; part++) this.#found[part]! *= factor;
  }
}
