/** Pairs of a model and a path kept; paths are routes of parsers and models are listed by replicas, so there are rarely more. */
const MOST_PAIRS = 10_000;

/**
 * Which models were served on which paths, by any replica. It tells a replica that lost a model from a path that no replica has for it
 * (embeddings of a chat model): both say 404. Only what was served before can have been lost, so that the first requests for a path
 * that no replica has, which may all reach the same replica, do not speak against it.
 */
export class ServedPaths {
  readonly #paths = new Map<string, Set<string>>();
  #pairs = 0;
  /** What was served last. */
  #lastModel = "";
  #lastPath = "";

  /** A replica served the model on this path. */
  add(model: string, path: string): void {
    // Almost every call ends here. Comparing names takes half as long as looking them up.
    if (model === this.#lastModel && path === this.#lastPath) return;
    if (!this.has(model, path)) this.#keep(model, path);
    this.#lastModel = model;
    this.#lastPath = path;
  }

  has(model: string, path: string): boolean {
    return this.#paths.get(model)?.has(path) === true;
  }

  #keep(model: string, path: string): void {
    if (this.#pairs >= MOST_PAIRS) {
      this.#paths.clear();
      this.#pairs = 0;
    }
    const paths = this.#paths.get(model);
    if (paths === undefined) this.#paths.set(model, new Set([path]));
    else paths.add(path);
    this.#pairs += 1;
  }
}
