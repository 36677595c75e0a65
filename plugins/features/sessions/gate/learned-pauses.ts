import { Pauses } from "./pauses.ts";

/** Why a replica stopped so that tools run next, in the words of the APIs. A program comes back sooner than a person. */
const BEFORE_TOOLS = ["tool_calls", "tool_use", "function_call"];

/** The pauses of all sessions, and of those that come after a turn of the same kind: one that calls tools, or another one. */
export class LearnedPauses {
  readonly #all = new Pauses();
  readonly #afterTools = new Pauses(this.#all);
  readonly #afterOthers = new Pauses(this.#all);

  /** `finishReason`: of the turn before the pause. */
  returned(finishReason: string, pauseMs: number): void {
    this.#all.returned(pauseMs);
    this.#after(finishReason).returned(pauseMs);
  }

  lost(finishReason: string, pauseMs: number): void {
    this.#all.lost(pauseMs);
    this.#after(finishReason).lost(pauseMs);
  }

  rate(finishReason: string, pausedMs: number): number {
    return this.#after(finishReason).rate(pausedMs);
  }

  #after(finishReason: string): Pauses {
    return BEFORE_TOOLS.includes(finishReason) ? this.#afterTools : this.#afterOthers;
  }
}
