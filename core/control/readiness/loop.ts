import type { Clock } from "../../contract/clock.ts";

/** Runs a step again and again, one at a time. The step returns the pause before the next one and never rejects. */
export class Loop {
  readonly #clock: Clock;
  readonly #step: () => Promise<number>;
  #cancel: (() => void) | undefined;
  #isOn = false;
  #isRunning = false;
  /** A pause asked for during a step; it counts instead of the step's own. */
  #askedMs: number | undefined;

  constructor(clock: Clock, step: () => Promise<number>) {
    this.#clock = clock;
    this.#step = step;
  }

  /** The next step begins in `ms`, whatever was planned; one that is under way ends first. */
  next(ms: number): void {
    this.#isOn = true;
    if (this.#isRunning) {
      this.#askedMs = ms;
      return;
    }
    this.#cancel?.();
    this.#cancel = this.#clock.after(ms, () => void this.#run());
  }

  /** No step begins any more, until `next`. */
  stop(): void {
    this.#isOn = false;
    this.#askedMs = undefined;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  async #run(): Promise<void> {
    this.#cancel = undefined;
    this.#isRunning = true;
    const ownMs = await this.#step();
    this.#isRunning = false;
    if (!this.#isOn) return;
    const ms = this.#askedMs ?? ownMs;
    this.#askedMs = undefined;
    this.next(ms);
  }
}
