import type { EventQueue } from "./events.ts";
import type { SessionFigures } from "./session-meter.ts";
import type { TraceRequest } from "./trace.ts";

/** When requests come. */
export interface Arrivals {
  /** Those that have come or will come, by index; in a closed loop it grows. */
  readonly requests: readonly TraceRequest[];
  /** The run is over. */
  readonly isOver: boolean;
  /** Share of the run that is done. */
  readonly share: number;
  /** How many requests the figures are about. */
  readonly counted: number;
  /** When the last request comes, whatever becomes of the others; 0 where that depends on them. */
  readonly lastMs: number;
  /** Calls `arrive` for each request when it comes. */
  start(arrive: (index: number) => void): void;
  /** The request has ended, well or not. */
  ended(index: number): void;
  /** What only sessions have. */
  figures(): SessionFigures | undefined;
}

/** Requests come at their recorded times, whatever becomes of those before them. */
export class OpenArrivals implements Arrivals {
  readonly requests: readonly TraceRequest[];
  readonly #clock: EventQueue;
  readonly #timeScale: number;
  #left: number;

  constructor(requests: readonly TraceRequest[], clock: EventQueue, timeScale: number) {
    this.requests = requests;
    this.#clock = clock;
    this.#timeScale = timeScale;
    this.#left = requests.length;
  }

  get isOver(): boolean {
    return this.#left === 0;
  }

  get share(): number {
    return 1 - this.#left / this.requests.length;
  }

  get counted(): number {
    return this.requests.length;
  }

  get lastMs(): number {
    return (this.requests.at(-1)?.atMs ?? 0) * this.#timeScale;
  }

  start(arrive: (index: number) => void, index = 0): void {
    const request = this.requests[index];
    if (request === undefined) return;
    this.#clock.at(request.atMs * this.#timeScale, () => {
      arrive(index);
      this.start(arrive, index + 1);
    });
  }

  ended(): void {
    this.#left -= 1;
  }

  figures(): undefined {}
}
