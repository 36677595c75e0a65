/** Requests and retries are counted in buckets of a second, over ten. */
const BUCKETS = 10;
const BUCKET_MS = 1_000;

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
  readonly #settings: RetryBudgetSettings;
  readonly #requests = new Int32Array(BUCKETS);
  readonly #retries = new Int32Array(BUCKETS);
  #bucket = 0;

  constructor(settings: RetryBudgetSettings) {
    this.#settings = settings;
  }

  /** A request was sent for the first time. */
  request(nowMs: number): void {
    this.#requests[this.#turn(nowMs)]! += 1;
  }

  /** Whether one more try fits in now; asking takes nothing. */
  hasRoom(nowMs: number): boolean {
    this.#turn(nowMs);
    const { budgetShare, budgetLeast } = this.#settings;
    return sum(this.#retries) < Math.max(budgetLeast, Math.floor(budgetShare * sum(this.#requests)));
  }

  /** A further try was made after a delivery. One after a failed connect cost no replica anything, and does not count. */
  retry(nowMs: number): void {
    this.#retries[this.#turn(nowMs)]! += 1;
  }

  #turn(nowMs: number): number {
    const bucket = Math.floor(nowMs / BUCKET_MS);
    for (let passed = Math.max(this.#bucket + 1, bucket - BUCKETS + 1); passed <= bucket; passed++) {
      this.#requests[passed % BUCKETS] = 0;
      this.#retries[passed % BUCKETS] = 0;
    }
    this.#bucket = Math.max(this.#bucket, bucket);
    return this.#bucket % BUCKETS;
  }
}

function sum(counts: Int32Array): number {
  let total = 0;
  for (const count of counts) total += count;
  return total;
}
