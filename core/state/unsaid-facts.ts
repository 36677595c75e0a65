/** So many are remembered for those who missed them. */
const MOST_RECENT = 4_096;

/** Of what a feature tells other routers: what has not been said since it changed, and what changed lately. */
export class UnsaidFacts<Key> {
  readonly #unsaid = new Set<Key>();
  /** When each has changed; the last one is last. */
  readonly #recent = new Map<Key, number>();
  #soon: (() => void) | undefined;

  listen(soon: (() => void) | undefined): void {
    this.#soon = soon;
    if (soon !== undefined) return;
    this.#unsaid.clear();
    this.#recent.clear();
  }

  changed(key: Key, nowMs: number): void {
    if (this.#soon === undefined) return;
    this.#recent.delete(key);
    this.#remember(key, nowMs);
    this.#unsaid.add(key);
    this.#soon();
  }

  /** Another router has said it: it is said only to those who come later. */
  remember(key: Key): void {
    if (this.#soon !== undefined && !this.#recent.has(key)) this.#remember(key, Number.NEGATIVE_INFINITY);
  }

  forget(key: Key): void {
    this.#recent.delete(key);
    this.#unsaid.delete(key);
  }

  /** What has changed since then is to be said again. */
  repeat(sinceMs: number): void {
    for (const [key, changedMs] of this.#recent) if (changedMs >= sinceMs) this.#unsaid.add(key);
    if (this.#unsaid.size > 0) this.#soon?.();
  }

  /** Each one is taken out. */
  *take(): Generator<Key> {
    for (const key of this.#unsaid) {
      this.#unsaid.delete(key);
      yield key;
    }
  }

  #remember(key: Key, changedMs: number): void {
    this.#recent.set(key, changedMs);
    if (this.#recent.size <= MOST_RECENT) return;
    for (const oldest of this.#recent.keys()) return this.forget(oldest);
  }
}
