const LOOK_MS = 100;
const WINDOW_MS = 5_000;
/** In a window with fewer looks than this share of those that are due, the process counts as starved. */
const LEAST_SHARE = 0.8;

/**
 * Notices when this process, in which clients and replicas run, gets too little of the processor. Its replicas are then slow or silent
 * without any disturbance, and a router that takes them for wedged is right.
 */
export class Starvation {
  readonly #times: { readonly fromMs: number; toMs: number }[] = [];
  #looks: number[] = [];
  #sinceMs = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  get totalMs(): number {
    return this.#times.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
  }

  begin(): void {
    this.#sinceMs = Date.now();
    this.#timer = setInterval(() => this.look(Date.now()), LOOK_MS);
  }

  end(): void {
    clearInterval(this.#timer);
  }

  /** Whether it was starved at any moment from `fromMs` to `toMs`, in milliseconds since 1970. */
  wasDuring(fromMs: number, toMs: number): boolean {
    return this.#times.some((each) => each.fromMs <= toMs && fromMs <= each.toMs);
  }

  /** Called every 100 ms, or later. */
  look(nowMs: number): void {
    const fromMs = nowMs - WINDOW_MS;
    this.#looks = [...this.#looks.filter((atMs) => atMs > fromMs), nowMs];
    if (fromMs < this.#sinceMs || this.#looks.length >= (LEAST_SHARE * WINDOW_MS) / LOOK_MS) return;
    const latest = this.#times.at(-1);
    if (latest !== undefined && latest.toMs >= fromMs) latest.toMs = nowMs;
    else this.#times.push({ fromMs, toMs: nowMs });
  }
}
