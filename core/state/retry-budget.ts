import { SlidingWindow } from "./sliding-window.ts";

/** Requests and retries are counted over this time. */
const WINDOW_MS = 10_000;
const BUCKETS = 10;
/** Their places in a bucket. */
const AT = { requests: 0, retries: 1 } as const;

export interface RetryBudgetSettings {
  /** Retries for each request, over ten seconds. */
  readonly budgetShare: number;
  /** So many are allowed in ten seconds however few the requests are. */
  readonly budgetLeast: number;
}

/**
 * How many further tries all requests together may make. When every replica fails, retries only add load: a share of the
 * requests keeps a crowd of them from making it worse. Times are on the router's clock.
 */
export class RetryBudget {
  #settings: RetryBudgetSettings;
  readonly #recent = new SlidingWindow(WINDOW_MS / BUCKETS, BUCKETS, 2);

  constructor(settings: RetryBudgetSettings) {
    this.#settings = settings;
  }

  /** Takes other settings; what was counted stays. */
  useSettings(settings: RetryBudgetSettings): void {
    this.#settings = settings;
  }

  /** A request was sent for the first time. */
  request(nowMs: number): void {
    this.#recent.add(AT.requests, 1, nowMs);
  }

  /** Whether one more try fits in now; asking takes nothing. */
  hasRoom(nowMs: number): boolean {
    const { budgetShare, budgetLeast } = this.#settings;
    const allowed = Math.max(budgetLeast, Math.floor(budgetShare * this.#recent.sum(AT.requests, nowMs)));
    return this.#recent.sum(AT.retries, nowMs) < allowed;
  }

  /** A further try was made after a delivery. One after a failed connect cost no replica anything, and does not count. */
  retry(nowMs: number): void {
    this.#recent.add(AT.retries, 1, nowMs);
  }
}
