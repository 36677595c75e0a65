/** Pairs of a model and a path kept; paths are routes of parsers and models are listed by replicas, so there are rarely more. */
const MOST_PAIRS = 10_000;

/**
 * Tells a replica that lost a model from a path that no replica serves for it (embeddings of a chat model), both of which are 404.
 * The first replica that says it is blamed, as long as no other one says it too and none has served that path for the model.
 */
export class MissedPaths {
  /** Of a model and a path: the only endpoint that said 404, or what is known by now. */
  readonly #states = new Map<string, { readonly suspect: string } | "served" | "unserved">();

  /** A replica served the model on this path. */
  served(model: string, path: string): void {
    this.#set(`${path} ${model}`, "served");
  }

  /** A replica that lists the model said 404. Returns whether that speaks against the replica. */
  missed(model: string, path: string, endpoint: string): boolean {
    const key = `${path} ${model}`;
    const state = this.#states.get(key);
    if (state === "served") return true;
    if (state === "unserved") return false;
    if (state !== undefined && state.suspect !== endpoint) {
      this.#set(key, "unserved");
      return false;
    }
    if (state === undefined) this.#set(key, { suspect: endpoint });
    return true;
  }

  #set(key: string, state: { readonly suspect: string } | "served" | "unserved"): void {
    if (this.#states.size >= MOST_PAIRS && !this.#states.has(key)) this.#states.clear();
    this.#states.set(key, state);
  }
}
