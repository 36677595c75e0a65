import { SlidingWindow } from "../../../core/state/sliding-window.ts";

const STEP_MS = 1_000;
const STEPS = 120;

/** How many waited at most in each of the last seconds. */
export class LineHistory {
  readonly #steps = new SlidingWindow(STEP_MS, STEPS, 1);
  readonly #first: number;

  constructor(nowMs: number) {
    this.#first = Math.floor(nowMs / STEP_MS);
  }

  waiting(count: number, nowMs: number): void {
    const at = this.#steps.at(nowMs);
    this.#steps.numbers[at] = Math.max(count, this.#steps.numbers[at]!);
  }

  /** The oldest first; without the present second. */
  shown(nowMs: number): readonly number[] {
    this.#steps.at(nowMs);
    const length = Math.min(STEPS - 1, Math.floor(nowMs / STEP_MS) - this.#first);
    return Array.from({ length }, (_, step) => this.#steps.numbers[this.#steps.before(length - step)]!);
  }
}
