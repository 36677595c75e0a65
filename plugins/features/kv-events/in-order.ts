import type { Clock } from "../../../core/contract/clock.ts";

interface Waiting {
  readonly run: () => void;
  /** What it holds. */
  readonly bytes: number;
}

/** What waits behind something that takes long is bounded, in number and bytes: beyond it, to forget all and begin anew is better. */
export const MOST_WAITING = 4_096;
export const MOST_WAITING_BYTES = 8 * 1024 * 1024;

/** Does one thing after the other. What takes long is done in slices, one in a turn of the event loop, and what comes meanwhile waits. */
export class InOrder {
  readonly #clock: Clock;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #isBusy = false;
  #cancel: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Does it now, or behind what waits. Returns false for what holds bytes while too much waits: it is left out. */
  next(run: () => void, bytes = 0): boolean {
    if (!this.#isBusy) {
      run();
      return true;
    }
    const isFull = this.#waiting.length >= MOST_WAITING || this.#waitingBytes > MOST_WAITING_BYTES;
    if (isFull && bytes > 0) return false;
    this.#waiting.push({ run, bytes });
    this.#waitingBytes += bytes;
    return true;
  }

  /** Does these before all that waits. They hold what was counted elsewhere. */
  first(runs: readonly (() => void)[]): void {
    this.#waiting.unshift(...runs.map((run) => ({ run, bytes: 0 })));
    if (!this.#isBusy) this.#doWaiting();
  }

  /** Calls `slice` now, and in each later turn until it returns true. */
  inSlices(slice: () => boolean): void {
    this.#isBusy = !slice();
    if (this.#isBusy) this.#cancel = this.#clock.after(0, () => this.#goOn(slice));
  }

  /** Ends what is done in slices, and drops what waits. */
  clear(): void {
    this.#cancel();
    this.#isBusy = false;
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  #goOn(slice: () => boolean): void {
    this.inSlices(slice);
    if (!this.#isBusy) this.#doWaiting();
  }

  #doWaiting(): void {
    while (!this.#isBusy) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#waitingBytes -= next.bytes;
      next.run();
    }
  }
}
