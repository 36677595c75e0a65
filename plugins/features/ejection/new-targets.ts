interface Awaited {
  readonly sinceMs: number;
  requests: number;
}

/** More than replicas serve. */
const MOST_KNOWN = 1_000;

/**
 * Which targets one endpoint has answered for, and which of the others are waited for: an adapter that is used for the first time is
 * read from a disk or a network, and engines may do nothing else meanwhile.
 */
export class NewTargets {
  readonly #answered = new Set<string>();
  readonly #awaited = new Map<string, Awaited>();

  sent(target: string, nowMs: number): void {
    if (this.#answered.has(target)) return;
    const awaited = this.#awaited.get(target);
    if (awaited === undefined) this.#awaited.set(target, { sinceMs: nowMs, requests: 1 });
    else awaited.requests += 1;
  }

  /** A token came that the target generated. */
  answered(target: string): void {
    if (this.#answered.has(target)) return;
    if (this.#answered.size >= MOST_KNOWN) this.#answered.clear();
    this.#answered.add(target);
    this.#awaited.delete(target);
  }

  /** A token came. It is a target's if no request for another one is among the `open` ones. */
  heard(open: number): void {
    for (const [target, { requests }] of this.#awaited) if (requests === open) return this.answered(target);
  }

  /** A request for the target ended. */
  ended(target: string): void {
    const awaited = this.#awaited.get(target);
    if (awaited === undefined) return;
    awaited.requests -= 1;
    if (awaited.requests === 0) this.#awaited.delete(target);
  }

  /** Whether a request that was sent by then still waits for a target that has never answered. */
  areAwaitedSince(sentByMs: number): boolean {
    for (const { sinceMs } of this.#awaited.values()) if (sinceMs <= sentByMs) return true;
    return false;
  }
}
