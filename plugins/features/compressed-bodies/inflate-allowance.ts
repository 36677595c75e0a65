/** So many bytes may be kept for all responses that are under way. */
const MOST_KEPT_BYTES = 64 * 1024 * 1024;
/** Inflated bytes in each second, and at once after a quiet time. A core inflates about 400 MiB in a second. */
const BYTES_A_SECOND = 64 * 1024 * 1024;
const MOST_SAVED_BYTES = 2 * BYTES_A_SECOND;

/** What reading compressed responses may cost the router: responses that become very long are made to exhaust it. */
export class InflateAllowance {
  #keptBytes = 0;
  #leftBytes = MOST_SAVED_BYTES;
  #countedAtMs = 0;

  /** Returns whether so much more may be kept; then give it back. */
  keep(bytes: number): boolean {
    if (this.#keptBytes + bytes > MOST_KEPT_BYTES) return false;
    this.#keptBytes += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#keptBytes -= bytes;
  }

  /** Whether one more response may be inflated now. */
  hasTime(nowMs: number): boolean {
    const madeSince = ((nowMs - this.#countedAtMs) * BYTES_A_SECOND) / 1000;
    this.#leftBytes = Math.min(MOST_SAVED_BYTES, this.#leftBytes + Math.max(0, madeSince));
    this.#countedAtMs = nowMs;
    return this.#leftBytes > 0;
  }

  /** So much came out. */
  inflated(bytes: number): void {
    this.#leftBytes -= bytes;
  }
}
