import type { PrefixSettings } from "../contract/plugin.ts";
import { PrefixIndex } from "./prefix-index.ts";

/** The prefix index that the config asks for, and what is known of the caches that it stands for. */
export class PoolPrefixes {
  /** Undefined while no plugin reads prefixes. */
  index: PrefixIndex | undefined;
  /** What it was made with. */
  #madeWith: string | undefined;
  /** In tokens, by slot. */
  readonly #capacities = new Map<number, number>();
  readonly #secret: ArrayLike<number> | undefined;

  /** `secret`: what prompts are hashed with, for runs that are to be repeated; left out, each index draws its own. */
  constructor(secret?: ArrayLike<number>) {
    this.#secret = secret;
  }

  /**
   * The index is kept if its settings are the same; otherwise there will be an empty one, since blocks of another size are not
   * comparable, nor are hashes with another secret. Throws RangeError when there is no memory for it; the returned function puts it
   * in place.
   */
  prepare(settings: PrefixSettings | undefined, secret = this.#secret): () => void {
    const madeWith = settings && JSON.stringify([settings, secret]);
    if (madeWith === this.#madeWith) return () => {};
    const index = settings && new PrefixIndex({ ...settings, secret });
    return () => {
      this.#madeWith = madeWith;
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
