import type { Endpoint } from "../../../core/contract/endpoint.ts";

/** How much of what is known stays when something new is learned: half after about 70 transfers. */
const KEPT = 0.99;
/** Of a handshake, the part that the first request of two endpoints is charged when pairs are weighed: it serves those that follow. */
const HANDSHAKE_SHARE = 0.02;
/** Two endpoint processes are remembered as having met; more than any pool has. */
const MOST_PAIRS = 65_536;

/**
 * How long transfers take, in milliseconds: a line through what was seen (least squares, old values forgotten by and by), with a fixed
 * part and a part for each token. The first transfer between two endpoint processes is learned apart: they make a handshake in it.
 */
export class TransferTimes {
  #count = 0;
  #tokens = 0;
  #ms = 0;
  #tokensSquared = 0;
  #tokensMs = 0;
  #handshakes = 0;
  #handshakeMs = 0;
  readonly #met = new Set<string>();

  /** Expected milliseconds between these two; 0 before any was seen. A handshake counts in part: see `HANDSHAKE_SHARE`. */
  weighedMs(tokens: number, prefill: Endpoint, decode: Endpoint): number {
    return this.#lineMs(tokens) + (this.hasMet(prefill, decode) ? 0 : HANDSHAKE_SHARE * this.handshakeMs);
  }

  /** The same with the whole handshake, as this request will see it. */
  expectedMs(tokens: number, prefill: Endpoint, decode: Endpoint): number {
    return this.#lineMs(tokens) + (this.hasMet(prefill, decode) ? 0 : this.handshakeMs);
  }

  /** What the first transfer between two endpoints has taken more than the others; 0 before one was seen. */
  get handshakeMs(): number {
    return this.#handshakes === 0 ? 0 : this.#handshakeMs / this.#handshakes;
  }

  /** Whether the two have exchanged a cache before. */
  hasMet(prefill: Endpoint, decode: Endpoint): boolean {
    return this.#met.has(keyOf(prefill, decode));
  }

  /** A transfer took so long. `hadMet`: the two had exchanged one before it began. */
  seen(tokens: number, tookMs: number, prefill: Endpoint, decode: Endpoint, hadMet: boolean): void {
    if (this.#met.size >= MOST_PAIRS) this.#met.clear();
    this.#met.add(keyOf(prefill, decode));
    if (hadMet) return this.#learn(tokens, tookMs);
    this.#handshakes += 1;
    this.#handshakeMs += Math.max(0, tookMs - this.#lineMs(tokens));
  }

  #learn(tokens: number, tookMs: number): void {
    this.#count = this.#count * KEPT + 1;
    this.#tokens = this.#tokens * KEPT + tokens;
    this.#ms = this.#ms * KEPT + tookMs;
    this.#tokensSquared = this.#tokensSquared * KEPT + tokens * tokens;
    this.#tokensMs = this.#tokensMs * KEPT + tokens * tookMs;
  }

  #lineMs(tokens: number): number {
    if (this.#count === 0) return 0;
    const meanTokens = this.#tokens / this.#count;
    const meanMs = this.#ms / this.#count;
    const spread = this.#tokensSquared / this.#count - meanTokens * meanTokens;
    if (spread < 1) return meanMs;
    // A longer prompt takes no less, and none takes less than nothing.
    const slope = Math.max(0, (this.#tokensMs / this.#count - meanTokens * meanMs) / spread);
    const fixed = meanMs - slope * meanTokens;
    return fixed >= 0 ? fixed + slope * tokens : (meanMs / Math.max(1, meanTokens)) * tokens;
  }
}

const keyOf = (prefill: Endpoint, decode: Endpoint) =>
  `${prefill.slot}.${prefill.generation} ${decode.slot}.${decode.generation}`;
