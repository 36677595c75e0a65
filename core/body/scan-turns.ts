import type { Clock } from "../contract/clock.ts";

/** Bytes between two looks at the clock. */
export const STEP_BYTES = 8 * 1024;
/** So long one turn of the event loop is used for scanning, all bodies together. */
const TURN_MS = 4;

/** A body that is not scanned as far as it has come. */
export interface ScanJob {
  /** Scans on by a step; returns true when there is more to scan now. Must not throw. */
  scanStep(): boolean;
}

/**
 * Scans large bodies a slice per turn of the event loop. A body of many short members takes 30 ms for a megabyte: in one piece
 * it would hold up everybody else. Bodies take turns, a step each.
 */
export class ScanTurns {
  readonly #clock: Pick<Clock, "now">;
  readonly #nextTurn: (run: () => void) => void;
  readonly #jobs: ScanJob[] = [];
  #isScheduled = false;
  readonly #run = () => this.#turn();

  constructor(clock: Pick<Clock, "now">, nextTurn: (run: () => void) => void) {
    this.#clock = clock;
    this.#nextTurn = nextTurn;
  }

  /** The job is done when its `scanStep` returned false; then it may be added again. */
  add(job: ScanJob): void {
    this.#jobs.push(job);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#nextTurn(this.#run);
  }

  #turn(): void {
    this.#isScheduled = false;
    const endMs = this.#clock.now() + TURN_MS;
    do {
      const job = this.#jobs.shift();
      if (job === undefined) return;
      if (job.scanStep()) this.#jobs.push(job);
    } while (this.#clock.now() < endMs);
    if (this.#jobs.length > 0) this.#schedule();
  }
}
