import { SlidingWindow } from "../../../core/state/sliding-window.ts";
import { BUCKET_MS, type KeyUse, REQUESTS, SECONDS, TOKENS, WIDTH } from "./key-use.ts";

/** What one router has said last. */
interface Heard {
  use: KeyUse;
  heardMs: number;
  isGone: boolean;
}

/** What a router that is gone had said last. */
export interface Gone {
  readonly router: string;
  readonly use: KeyUse;
  readonly agoMs: number;
}

const MINUTE_MS = SECONDS * BUCKET_MS;

/** What other routers say that a key uses there. */
export class OthersUse {
  readonly window = new SlidingWindow(BUCKET_MS, SECONDS, WIDTH);
  inFlight = 0;
  reservedTokens = 0;
  readonly #routers = new Map<string, Heard>();
  #lastMs = 0;

  /** How many other routers have used the key in the last minute. */
  routers(nowMs: number): number {
    let count = 0;
    for (const { isGone, heardMs } of this.#routers.values()) if (!isGone && nowMs - heardMs < MINUTE_MS) count += 1;
    return count;
  }

  isIdle(nowMs: number): boolean {
    return this.inFlight === 0 && nowMs - this.#lastMs >= MINUTE_MS;
  }

  heard(router: string, use: KeyUse, nowMs: number): void {
    this.#lastMs = nowMs;
    const before = this.#routers.get(router);
    if (before === undefined) this.#forgetOld(nowMs);
    // What was used since is spread over the time since: messages may have been lost for a while.
    const periodMs = Math.min(MINUTE_MS, use.spanMs, nowMs - (before?.heardMs ?? Number.NEGATIVE_INFINITY));
    const { requests, tokens } = before?.use.sinceMs === use.sinceMs ? before.use : { requests: 0, tokens: 0 };
    this.#spread(REQUESTS, Math.min(use.minuteRequests, use.requests - requests), periodMs, nowMs, nowMs);
    this.#spread(TOKENS, Math.min(use.minuteTokens, use.tokens - tokens), periodMs, nowMs, nowMs);
    if (before !== undefined) this.#leave(before);
    this.inFlight += use.inFlight;
    this.reservedTokens += use.reservedTokens;
    this.#routers.set(router, { use, heardMs: nowMs, isGone: false });
  }

  /** Another router has told what one that is gone had said last, `agoMs` ago. */
  heardOfGone(router: string, use: KeyUse, agoMs: number, nowMs: number): void {
    if (this.#routers.has(router)) return;
    this.#lastMs = nowMs;
    this.#forgetOld(nowMs);
    const periodMs = Math.min(MINUTE_MS, use.spanMs);
    this.#spread(REQUESTS, use.minuteRequests, periodMs, nowMs - agoMs, nowMs);
    this.#spread(TOKENS, use.minuteTokens, periodMs, nowMs - agoMs, nowMs);
    this.#routers.set(router, { use, heardMs: nowMs - agoMs, isGone: true });
  }

  /** What routers that are gone had said last, in this minute. */
  *gone(nowMs: number): Generator<Gone> {
    for (const [router, { use, heardMs, isGone }] of this.#routers)
      if (isGone && nowMs - heardMs < MINUTE_MS) yield { router, use, agoMs: nowMs - heardMs };
  }

  /** What it had under way has gone with it; what was used there stays used. */
  left(router: string): void {
    const heard = this.#routers.get(router);
    if (heard === undefined) return;
    this.#leave(heard);
    heard.isGone = true;
  }

  #leave({ use, isGone }: Heard): void {
    if (isGone) return;
    this.inFlight -= use.inFlight;
    this.reservedTokens -= use.reservedTokens;
  }

  #forgetOld(nowMs: number): void {
    for (const [router, { use, heardMs, isGone }] of this.#routers)
      if (nowMs - heardMs >= MINUTE_MS && (isGone || use.inFlight === 0)) this.#routers.delete(router);
  }

  #spread(place: number, amount: number, periodMs: number, untilMs: number, nowMs: number): void {
    if (amount === 0) return;
    const steps = Math.max(1, Math.floor(periodMs / BUCKET_MS));
    for (let step = 0; step < steps; step++) this.window.takeBack(place, -amount / steps, untilMs - step * BUCKET_MS, nowMs);
  }
}
