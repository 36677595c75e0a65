/** Pairs of a model and a path kept; paths are routes of parsers and models are listed by replicas, so there are rarely more. */
const MOST_PAIRS = 10_000;

interface Pair {
  readonly model: string;
  readonly path: string;
  servedAtMs: number;
}

/**
 * Which models were served on which paths, by any replica. It tells a replica that lost a model from a path that no replica has for it
 * (embeddings of a chat model): both say 404. Only what was served before can have been lost, so that the first requests for a path
 * that no replica has, which may all reach the same replica, do not speak against it.
 */
export class ServedPaths {
  readonly #paths = new Map<string, Map<string, Pair>>();
  #pairs = 0;
  /** What was served last. */
  #last: Pair = { model: "", path: "", servedAtMs: Number.NEGATIVE_INFINITY };

  /** A replica served the model on this path. */
  add(model: string, path: string, nowMs: number): void {
    // Almost every call finds it. Comparing names takes half as long as looking them up.
    if (model !== this.#last.model || path !== this.#last.path)
      this.#last = this.#paths.get(model)?.get(path) ?? this.#keep(model, path);
    this.#last.servedAtMs = nowMs;
  }

  has(model: string, path: string): boolean {
    return this.#paths.get(model)?.has(path) === true;
  }

  /** When a replica last served the model on this path; -Infinity before the first time. */
  servedAtMs(model: string, path: string): number {
    return this.#paths.get(model)?.get(path)?.servedAtMs ?? Number.NEGATIVE_INFINITY;
  }

  #keep(model: string, path: string): Pair {
    if (this.#pairs >= MOST_PAIRS) {
      this.#paths.clear();
      this.#pairs = 0;
    }
    const pair = { model, path, servedAtMs: Number.NEGATIVE_INFINITY };
    const paths = this.#paths.get(model);
    if (paths === undefined) this.#paths.set(model, new Map([[path, pair]]));
    else paths.set(path, pair);
    this.#pairs += 1;
    return pair;
  }
}
