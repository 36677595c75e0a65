import { PrefixIndex, type PrefixIndexSettings } from "./prefix-index.ts";

type Settings = Pick<PrefixIndexSettings, "blockBytes" | "maxBytes" | "countGenerated">;

/** The prefix index that the config asks for, and what is known of the caches that it stands for. */
export class PoolPrefixes {
  /** Undefined while no plugin reads prefixes. */
  index: PrefixIndex | undefined;
  #settings: Settings | undefined;
  /** In tokens, by slot. */
  readonly #capacities = new Map<number, number>();

  /**
   * The index is kept if its settings are the same; otherwise there will be an empty one, since blocks of another size are not
   * comparable. Throws RangeError when there is no memory for it; the returned function puts it in place.
   */
  prepare(settings: Settings | undefined): () => void {
    if (isSame(this.#settings, settings)) return () => {};
    const index = settings && new PrefixIndex(settings);
    return () => {
      this.#settings = settings;
      this.index = index;
      for (const [slot, tokens] of this.#capacities) index?.setCapacity(slot, tokens);
    };
  }

  /** Capacity in tokens of the slot's cache; undefined when it is not known any more. */
  setCapacity(slot: number, tokens: number | undefined): void {
    if (tokens === undefined) this.#capacities.delete(slot);
    else this.#capacities.set(slot, tokens);
    this.index?.setCapacity(slot, tokens);
  }

  /** Another process serves the slot: its cache is empty. */
  forget(slot: number): void {
    this.index?.forget(slot);
  }
}

function isSame(one: Settings | undefined, other: Settings | undefined): boolean {
  return (
    one?.blockBytes === other?.blockBytes && one?.maxBytes === other?.maxBytes && one?.countGenerated === other?.countGenerated
  );
}
