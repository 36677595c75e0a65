import { RouterError } from "../../../core/contract/errors.ts";
import type { PrincipalLimits } from "../../../core/contract/principal.ts";
import { SlidingWindow } from "../../../core/state/sliding-window.ts";
import type { KeyCounts } from "./key-counts.ts";

/** One more than a minute has, so that no minute ever holds more than the limit. */
const SECONDS = 61;
/** Places in a second of the window. */
const REQUESTS = 0;
const TOKENS = 1;
const WIDTH = 2;

/** What is left of one limit. */
export interface Left {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until all of it is there again, if nothing more is used. */
  readonly resetS: number;
}

/** What one principal uses now, and has used in the last minute. Moments are on the router's clock. */
export class Account {
  readonly counts: KeyCounts;
  #inFlight = 0;
  /** Tokens that requests under way are expected to take, prompt and output, which are counted when they end. */
  #reservedTokens = 0;
  #lastMs = 0;
  /** Made for the first limit per minute. */
  #window: SlidingWindow | undefined;

  constructor(counts: KeyCounts) {
    this.counts = counts;
  }

  /** One more request. Throws RouterError (429) where a limit is reached. */
  enter(limits: PrincipalLimits, nowMs: number): void {
    const { requestsPerMinute, tokensPerMinute, concurrency } = limits;
    if (concurrency !== undefined && this.#inFlight >= concurrency) throw this.#refused("requests under way", concurrency, 1);
    if (requestsPerMinute !== undefined && this.#used(REQUESTS, nowMs) >= requestsPerMinute)
      throw this.#refused(
        "requests per minute",
        requestsPerMinute,
        this.#secondsUntil(REQUESTS, requestsPerMinute - 1, this.#used(REQUESTS, nowMs)),
      );
    this.#checkTokens(tokensPerMinute, nowMs);
    this.#inFlight += 1;
    this.counts.inFlight += 1;
    this.#lastMs = nowMs;
    if (requestsPerMinute !== undefined || tokensPerMinute !== undefined) this.#minute().add(REQUESTS, 1, nowMs);
  }

  /** The request will take so many tokens, as is expected. Throws RouterError (429) where those before it have used up the limit. */
  reserve(tokens: number, { tokensPerMinute }: PrincipalLimits, nowMs: number): void {
    this.#checkTokens(tokensPerMinute, nowMs);
    this.#reservedTokens += tokens;
  }

  /** A request has ended that took so many tokens, of which so many were reserved. */
  leave(tokens: number, reservedTokens: number, nowMs: number): void {
    this.#inFlight -= 1;
    this.counts.inFlight -= 1;
    this.#reservedTokens -= reservedTokens;
    this.#lastMs = nowMs;
    this.#window?.add(TOKENS, tokens, nowMs);
  }

  /** A request that was counted at that moment was refused: it takes nothing of the limit. */
  giveBack(countedAtMs: number, nowMs: number): void {
    this.#window?.takeBack(REQUESTS, 1, countedAtMs, nowMs);
  }

  /** Undefined where there is no such limit. */
  requestsLeft({ requestsPerMinute }: PrincipalLimits, nowMs: number): Left | undefined {
    return requestsPerMinute === undefined ? undefined : this.#left(REQUESTS, requestsPerMinute, 0, nowMs);
  }

  tokensLeft({ tokensPerMinute }: PrincipalLimits, nowMs: number): Left | undefined {
    return tokensPerMinute === undefined ? undefined : this.#left(TOKENS, tokensPerMinute, this.#reservedTokens, nowMs);
  }

  /** Whether nothing would be different without it. */
  isIdle(nowMs: number): boolean {
    return this.#inFlight === 0 && nowMs - this.#lastMs > SECONDS * 1000;
  }

  #checkTokens(limit: number | undefined, nowMs: number): void {
    if (limit === undefined || this.#used(TOKENS, nowMs) + this.#reservedTokens < limit) return;
    throw this.#refused("tokens per minute", limit, this.#secondsUntil(TOKENS, limit - 1, this.#used(TOKENS, nowMs)));
  }

  #refused(what: string, limit: number, seconds: number): RouterError {
    this.counts.refused += 1;
    const message = `This key has reached its limit of ${limit} ${what}; try again later.`;
    return new RouterError("rate_limit_exceeded", message, { retryAfterS: Math.max(1, seconds) });
  }

  #left(place: number, limit: number, reserved: number, nowMs: number): Left {
    const used = this.#used(place, nowMs);
    return { limit, remaining: Math.max(0, limit - Math.ceil(used + reserved)), resetS: this.#secondsUntil(place, 0, used) };
  }

  #used(place: number, nowMs: number): number {
    return this.#window?.sum(place, nowMs) ?? 0;
  }

  /** Until at most so many of the `used` ones of the last minute are left. */
  #secondsUntil(place: number, most: number, used: number): number {
    const window = this.#window;
    let sum = used;
    if (window === undefined || sum <= most) return 0;
    let ago = SECONDS - 1;
    for (; ago > 0; ago--) {
      sum -= window.numbers[window.before(ago) + place]!;
      if (sum <= most) break;
    }
    return SECONDS - ago;
  }

  #minute(): SlidingWindow {
    this.#window ??= new SlidingWindow(1000, SECONDS, WIDTH);
    return this.#window;
  }
}
