/** How often a peer may do something that brings nothing: so often at once, and so often in each second after that. */
export class Allowance {
  readonly #most: number;
  readonly #perSecond: number;
  readonly #nowMs: () => number;
  #left: number;
  #renewedMs: number;

  constructor(most: number, perSecond: number, nowMs: () => number) {
    this.#most = most;
    this.#perSecond = perSecond;
    this.#nowMs = nowMs;
    this.#left = most;
    this.#renewedMs = nowMs();
  }

  /** False when it is spent. The clock is only looked at then. */
  take(cost = 1): boolean {
    if (this.#left < cost) this.#renew();
    this.#left -= cost;
    if (this.#left >= 0) return true;
    this.#left = 0;
    return false;
  }

  /** The peer has let something of use be done. */
  earn(gain: number): void {
    this.#left = Math.min(this.#most, this.#left + gain);
  }

  #renew(): void {
    const nowMs = this.#nowMs();
    this.earn(((nowMs - this.#renewedMs) / 1000) * this.#perSecond);
    this.#renewedMs = nowMs;
  }
}
