import type { Clock } from "../../core/contract/clock.ts";
import type { Random } from "../../core/contract/profile-plugin.ts";
import { pause, retryMs } from "./back-off.ts";
import { KubernetesError } from "./kubernetes-error.ts";

/** Asks the server whether it is ready; rejects with a KubernetesError. */
type Ask = (signal: AbortSignal) => Promise<void>;

/** Between two questions, which are small, and while nobody listens cost the server nothing. */
const MOST_MS = 1_000;
/** A server that says for longer that it is not ready may serve all the same: one part of it is ill. */
const MOST_REFUSALS = 30;

/**
 * Requests to a server that gave no response wait here until it is there and ready. A server that has just started refuses requests for
 * some seconds, and asks for a longer pause than it needs.
 */
export class Outage {
  readonly #ask: Ask;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #waiting = new Set<() => void>();
  #isOn = false;
  #asking = new AbortController();

  constructor(ask: Ask, clock: Clock, random: Random) {
    this.#ask = ask;
    this.#clock = clock;
    this.#random = random;
  }

  /** A request had no response. */
  begin(): void {
    this.#isOn = true;
  }

  /** Resolves when the server is ready, or the signal is aborted. Nobody asks while nobody waits. */
  over(signal: AbortSignal | undefined): Promise<void> {
    if (!this.#isOn || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const leave = () => {
        this.#waiting.delete(leave);
        signal?.removeEventListener("abort", leave);
        if (this.#waiting.size === 0) this.#asking.abort();
        resolve();
      };
      this.#waiting.add(leave);
      signal?.addEventListener("abort", leave);
      if (this.#waiting.size > 1) return;
      this.#asking = new AbortController();
      void this.#askOften(this.#asking.signal);
    });
  }

  async #askOften(signal: AbortSignal): Promise<void> {
    for (let refusals = 0; refusals < MOST_REFUSALS; ) {
      const thrown = await this.#ask(signal).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (signal.aborted) return;
      if (isThere(thrown)) break;
      if (!(thrown instanceof KubernetesError && thrown.isUnconnected)) refusals += 1;
      await pause(retryMs(1, thrown, this.#random, MOST_MS), this.#clock, signal);
      if (signal.aborted) return;
    }
    this.#isOn = false;
    for (const leave of [...this.#waiting]) leave();
  }
}

/** A server that may not be asked whether it is ready is there too. */
function isThere(thrown: unknown): boolean {
  if (!(thrown instanceof KubernetesError)) return thrown === undefined;
  return thrown.status >= 400 && thrown.status < 500 && thrown.status !== 429;
}
