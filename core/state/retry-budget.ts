import { WindowCount } from "./window-count.ts";

/** Requests and retries are counted over this time. */
const WINDOW_MS = 10_000;

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
  readonly #requests = new WindowCount(WINDOW_MS);
  readonly #retries = new WindowCount(WINDOW_MS);

  constructor(settings: RetryBudgetSettings) {
    this.#settings = settings;
  }

  /** Takes other settings; what was counted stays. */
  useSettings(settings: RetryBudgetSettings): void {
    this.#settings = settings;
  }

  /** A request was sent for the first time. */
  request(nowMs: number): void {
    this.#requests.add(nowMs);
  }

  /** Whether one more try fits in now; asking takes nothing. */
  hasRoom(nowMs: number): boolean {
    const { budgetShare, budgetLeast } = this.#settings;
    return this.#retries.total(nowMs) < Math.max(budgetLeast, Math.floor(budgetShare * this.#requests.total(nowMs)));
  }

  /** A further try was made after a delivery. One after a failed connect cost no replica anything, and does not count. */
  retry(nowMs: number): void {
    this.#retries.add(nowMs);
  }
}
