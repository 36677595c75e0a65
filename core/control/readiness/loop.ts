import type { Clock } from "../../contract/clock.ts";

/** Repeats a step, never two at once. The step resolves to the pause in milliseconds before the next one; it must not reject. */
export class Loop {
  readonly #clock: Clock;
  readonly #step: () => Promise<number>;
  #cancel: (() => void) | undefined;
  #isOn = false;
  #isRunning = false;
  /** A pause given to `next` during a step; it replaces the step's own. */
  #askedMs: number | undefined;

  constructor(clock: Clock, step: () => Promise<number>) {
    this.#clock = clock;
    this.#step = step;
  }

  /** Plans the next step in `ms`, instead of any earlier plan. During a step, `ms` counts from that step's end. */
  next(ms: number): void {
    this.#isOn = true;
    if (this.#isRunning) {
      this.#askedMs = ms;
      return;
    }
    this.#cancel?.();
    this.#cancel = this.#clock.after(ms, () => void this.#run());
  }

  /** Begins no step until `next` is called. */
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
