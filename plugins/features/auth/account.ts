import { RouterError } from "../../../core/contract/errors.ts";
import type { PrincipalLimits } from "../../../core/contract/principal.ts";
import { SlidingWindow } from "../../../core/state/sliding-window.ts";
import type { KeyCounts } from "./key-counts.ts";
import { BUCKET_MS, type KeyUse, REQUESTS, SECONDS, TOKENS, WIDTH } from "./key-use.ts";
import type { OthersUse } from "./others-use.ts";

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
  /** Undefined where no other router has used the key. */
  others: OthersUse | undefined;
  readonly #sinceMs: number;
  /** Since then, where there is a limit per minute. */
  #requests = 0;
  #tokens = 0;
  /** What the other routers have heard of its use here. */
  #known = { requests: 0, tokens: 0, inFlight: 0 };
  #inFlight = 0;
  /** Tokens that requests under way are expected to take, prompt and output, which are counted when they end. */
  #reservedTokens = 0;
  #lastMs = 0;
  /** Made for the first limit per minute. */
  #window: SlidingWindow | undefined;

  constructor(counts: KeyCounts, nowMs: number) {
    this.counts = counts;
    this.#sinceMs = nowMs;
  }

  /** Whether one more request is within the limits, but must wait until the other routers have heard of those that are here. */
  mustWait({ requestsPerMinute, tokensPerMinute, concurrency }: PrincipalLimits, nowMs: number): boolean {
    if (this.others === undefined) return false;
    const lefts = [
      [concurrency, this.#placesLeft(concurrency ?? 0), this.#unheardPlaces, 1],
      [requestsPerMinute, (requestsPerMinute ?? 0) - this.#used(REQUESTS, nowMs), this.#unheardRequests, 1],
      [tokensPerMinute, this.#tokensLeft(tokensPerMinute ?? 0, nowMs), this.#unheardTokens, 0],
    ] as const;
    const bound = lefts.filter(([limit]) => limit !== undefined);
    if (bound.some(([, left]) => left <= 0)) return false;
    return bound.some(([, left, unheard, wanted]) => !this.#isInShare(unheard, wanted, left, nowMs));
  }

  /** One more request. Throws RouterError (429) where a limit is reached. */
  enter(limits: PrincipalLimits, nowMs: number): void {
    const { requestsPerMinute, tokensPerMinute, concurrency } = limits;
    if (concurrency !== undefined && !this.#hasPlace(concurrency, nowMs))
      throw this.#refused("requests under way", concurrency, 1);
    if (requestsPerMinute !== undefined) this.#checkRequests(requestsPerMinute, nowMs);
    this.#checkTokens(tokensPerMinute, nowMs);
    this.#inFlight += 1;
    this.counts.inFlight += 1;
    this.#lastMs = nowMs;
    if (requestsPerMinute === undefined && tokensPerMinute === undefined) return;
    this.#requests += 1;
    this.#minute().add(REQUESTS, 1, nowMs);
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
    if (this.#window === undefined) return;
    this.#tokens += tokens;
    this.#window.add(TOKENS, tokens, nowMs);
  }

  /** A request that was counted at that moment was refused: it takes nothing of the limit. */
  giveBack(countedAtMs: number, nowMs: number): void {
    if (this.#window === undefined) return;
    this.#requests -= 1;
    this.#window.takeBack(REQUESTS, 1, countedAtMs, nowMs);
  }

  /** Undefined where there is no such limit. */
  requestsLeft({ requestsPerMinute }: PrincipalLimits, nowMs: number): Left | undefined {
    return requestsPerMinute === undefined ? undefined : this.#left(REQUESTS, requestsPerMinute, 0, nowMs);
  }

  tokensLeft({ tokensPerMinute }: PrincipalLimits, nowMs: number): Left | undefined {
    return tokensPerMinute === undefined ? undefined : this.#left(TOKENS, tokensPerMinute, this.#reserved, nowMs);
  }

  /** What other routers are to know of it. */
  use(nowMs: number): KeyUse {
    const window = this.#window;
    const sums = window?.sums(nowMs);
    let oldest = window === undefined ? 0 : SECONDS - 1;
    for (; oldest > 0; oldest--) {
      const at = window!.before(oldest);
      if (window!.numbers[at + REQUESTS] !== 0 || window!.numbers[at + TOKENS] !== 0) break;
    }
    return {
      sinceMs: this.#sinceMs,
      requests: this.#requests,
      tokens: this.#tokens,
      inFlight: this.#inFlight,
      reservedTokens: this.#reservedTokens,
      minuteRequests: sums?.[REQUESTS] ?? 0,
      minuteTokens: sums?.[TOKENS] ?? 0,
      spanMs: oldest * BUCKET_MS + (nowMs % BUCKET_MS),
    };
  }

  /** The others have heard this. */
  heardBack({ requests, tokens, reservedTokens, inFlight }: KeyUse): void {
    this.#known = { requests, tokens: tokens + reservedTokens, inFlight };
  }

  /** Whether nothing would be different without it. */
  isIdle(nowMs: number): boolean {
    return this.#inFlight === 0 && nowMs - this.#lastMs > SECONDS * 1000;
  }

  #hasPlace(limit: number, nowMs: number): boolean {
    const left = this.#placesLeft(limit);
    return left > 0 && this.#isInShare(this.#unheardPlaces, 1, left, nowMs);
  }

  #checkRequests(limit: number, nowMs: number): void {
    const used = this.#used(REQUESTS, nowMs);
    if (used < limit && this.#isInShare(this.#unheardRequests, 1, limit - used, nowMs)) return;
    throw this.#refused("requests per minute", limit, this.#secondsUntil(REQUESTS, limit - 1, used));
  }

  #checkTokens(limit: number | undefined, nowMs: number): void {
    if (limit === undefined) return;
    const left = this.#tokensLeft(limit, nowMs);
    if (left > 0 && this.#isInShare(this.#unheardTokens, 0, left, nowMs)) return;
    throw this.#refused("tokens per minute", limit, this.#secondsUntil(TOKENS, limit - 1, this.#used(TOKENS, nowMs)));
  }

  #placesLeft(limit: number): number {
    return limit - this.#inFlight - (this.others?.inFlight ?? 0);
  }

  #tokensLeft(limit: number, nowMs: number): number {
    return limit - this.#used(TOKENS, nowMs) - this.#reserved;
  }

  // What the others have not heard of yet.

  get #unheardPlaces(): number {
    return this.#inFlight - this.#known.inFlight;
  }

  get #unheardRequests(): number {
    return this.#requests - this.#known.requests;
  }

  get #unheardTokens(): number {
    return this.#tokens + this.#reservedTokens - this.#known.tokens;
  }

  /**
   * Whether so much more is in this router's share of what is left. What the others have not heard of yet, they can't count. So until they
   * have, each router that the key is used at takes no more than an equal part; but one request always may, if anything is left.
   */
  #isInShare(unheard: number, wanted: number, left: number, nowMs: number): boolean {
    if (this.others === undefined || unheard <= 0) return true;
    const routers = 1 + this.others.routers(nowMs);
    return routers === 1 || unheard + wanted <= (left + unheard) / routers;
  }

  /** Of all routers. */
  get #reserved(): number {
    return this.#reservedTokens + (this.others?.reservedTokens ?? 0);
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
    const own = this.#window?.sum(place, nowMs) ?? 0;
    return this.others === undefined ? own : own + Math.max(0, this.others.window.sum(place, nowMs));
  }

  /** Until at most so many of the `used` ones of the last minute are left. */
  #secondsUntil(place: number, most: number, used: number): number {
    let sum = used;
    if (sum <= most) return 0;
    let ago = SECONDS - 1;
    for (; ago > 0; ago--) {
      sum -= usedIn(this.#window, ago, place) + usedIn(this.others?.window, ago, place);
      if (sum <= most) break;
    }
    return SECONDS - ago;
  }

  #minute(): SlidingWindow {
    this.#window ??= new SlidingWindow(BUCKET_MS, SECONDS, WIDTH);
    return this.#window;
  }
}

function usedIn(window: SlidingWindow | undefined, ago: number, place: number): number {
  return window === undefined ? 0 : window.numbers[window.before(ago) + place]!;
}
