type PathState = { readonly suspect: string } | "served" | "unserved";

/** Pairs of a model and a path kept; paths are routes of parsers and models are listed by replicas, so there are rarely more. */
const MOST_PAIRS = 10_000;

/**
 * Tells a replica that lost a model from a path that no replica serves for it (embeddings of a chat model), both of which are 404.
 * The first replica that says it is blamed, as long as no other one says it too and none has served that path for the model.
 */
export class MissedPaths {
  /** By model and path: the only endpoint that said 404, or whether any replica serves it. */
  readonly #states = new Map<string, Map<string, PathState>>();
  #pairs = 0;
  /** What was served last. */
  #servedModel = "";
  #servedPath = "";

  /** A replica served the model on this path. */
  served(model: string, path: string): void {
    // Almost every call ends here. Comparing names takes half as long as looking them up.
    if (model === this.#servedModel && path === this.#servedPath) return;
    if (this.#states.get(model)?.get(path) !== "served") this.#set(model, path, "served");
    this.#servedModel = model;
    this.#servedPath = path;
  }

  /** A replica that lists the model said 404. Returns whether that speaks against the replica. */
  missed(model: string, path: string, endpoint: string): boolean {
    const state = this.#states.get(model)?.get(path);
    if (state === "served") return true;
    if (state === "unserved") return false;
    if (state !== undefined && state.suspect !== endpoint) {
      this.#set(model, path, "unserved");
      return false;
    }
    if (state === undefined) this.#set(model, path, { suspect: endpoint });
    return true;
  }

  #set(model: string, path: string, state: PathState): void {
    if (this.#pairs >= MOST_PAIRS && this.#states.get(model)?.has(path) !== true) {
      this.#states.clear();
      this.#servedPath = "";
      this.#pairs = 0;
    }
    const paths = this.#states.get(model) ?? new Map<string, PathState>();
    if (!paths.has(path)) this.#pairs += 1;
    paths.set(path, state);
    this.#states.set(model, paths);
  }
}
