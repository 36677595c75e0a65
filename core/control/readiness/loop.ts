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
  #nextAtMs = Number.NaN;

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
    this.#nextAtMs = this.#clock.now() + ms;
    this.#cancel = this.#clock.after(ms, () => void this.#run());
  }

  /** Like `next`, but a step that is planned for a sooner time, or is due, stays: who asks again and again must not put it off for ever. */
  within(ms: number): void {
    const isSooner = !this.#isRunning && this.#nextAtMs <= this.#clock.now() + ms;
    if (!isSooner) this.next(ms);
  }

  /** When the next step is planned, on the clock; the present while one is under way, and NaN while none is planned. */
  get nextAtMs(): number {
    return this.#isRunning ? this.#clock.now() : this.#nextAtMs;
  }

  /** Begins no step until `next` is called. */
  stop(): void {
    this.#isOn = false;
    this.#nextAtMs = Number.NaN;
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
