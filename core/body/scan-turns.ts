import type { Clock } from "../contract/clock.ts";

/** Bytes between two looks at the clock: the fewest, with which a process begins, and the most. */
const FEWEST_STEP_BYTES = 512;
const MOST_STEP_BYTES = 8 * 1024;
/** After a step that took longer than this, steps are shorter; after one that took less than a quarter of it, they are longer. */
const STEP_MS = 0.5;
/** So long one turn of the event loop is used for scanning, all bodies together. */
const TURN_MS = 2;

/** A body that is not scanned as far as it has come. */
export interface ScanJob {
  /** Scans on by a step of so many bytes; returns true when there is more to scan now. Must not throw. */
  scanStep(bytes: number): boolean;
}

/**
 * Scans large bodies a slice per turn of the event loop. A body of many short members takes 30 ms for a megabyte: in one piece
 * it would hold up everybody else. Bodies take turns, a step each. Steps are short until they prove quick: the first ones of a
 * process run code that the engine has not compiled yet, at a tenth of the speed.
 */
export class ScanTurns {
  readonly #clock: Clock;
  readonly #nextTurn: (run: () => void) => void;
  readonly #jobs: ScanJob[] = [];
  #isScheduled = false;
  #stepBytes = FEWEST_STEP_BYTES;
  readonly #run = () => this.#turn();

  constructor(clock: Clock, nextTurn: (run: () => void) => void) {
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
    let nowMs = this.#clock.now();
    const endMs = nowMs + TURN_MS;
    do {
      const job = this.#jobs.shift();
      if (job === undefined) return;
      const fromMs = nowMs;
      if (job.scanStep(this.#stepBytes)) this.#jobs.push(job);
      nowMs = this.#clock.now();
      this.#adapt(nowMs - fromMs);
    } while (nowMs < endMs);
    if (this.#jobs.length > 0) this.#schedule();
  }

  #adapt(stepMs: number): void {
    if (stepMs > STEP_MS) this.#stepBytes = Math.max(FEWEST_STEP_BYTES, this.#stepBytes / 2);
    else if (stepMs < STEP_MS / 4) this.#stepBytes = Math.min(MOST_STEP_BYTES, this.#stepBytes * 2);
  }
}
