import type { CacheTestimony } from "../../../core/contract/cache-witness.ts";
import type { KnownPart } from "./prompts/known-prompts.ts";
import type { Promised, ReplicaCache } from "./replica-cache.ts";

interface Word {
  readonly promised: Promised | undefined;
  readonly tokens: number | undefined;
}

/** What events say of one prompt, slot by slot; the first answer for a slot stays. */
export class Testimony implements CacheTestimony {
  readonly known: KnownPart;
  readonly #cacheAt: (slot: number) => ReplicaCache | undefined;
  readonly #isBelieved: boolean;
  readonly #words: (Word | undefined)[] = [];

  constructor(known: KnownPart, cacheAt: (slot: number) => ReplicaCache | undefined, isBelieved: boolean) {
    this.known = known;
    this.#cacheAt = cacheAt;
    this.#isBelieved = isBelieved;
  }

  heldTokens(slot: number, believed: number): number | undefined {
    this.#words[slot] ??= this.#wordOn(slot, believed);
    return this.#words[slot].tokens;
  }

  /** What was promised when the decision was made; undefined if nothing was, or nobody asked. */
  promisedAt(slot: number): Promised | undefined {
    return this.#words[slot]?.promised;
  }

  /** Whether the index's belief was set aside for the slot. */
  hasCounted(slot: number): boolean {
    return this.#words[slot]?.tokens !== undefined;
  }

  #wordOn(slot: number, believed: number): Word {
    const cache = this.#cacheAt(slot);
    const promised = cache?.promised(this.known);
    if (promised === undefined || cache!.voice.isLost || !this.#isBelieved) return { promised, tokens: undefined };
    const { tokens, isAll, isExact } = promised;
    // Beyond the known part, and in a cache of which not all is known, events can only add.
    if (isAll || !isExact) return { promised, tokens: Math.max(tokens, believed) };
    // A request under way brings back what is missing.
    if (this.known.prompt.pending.includes(slot)) return { promised, tokens: undefined };
    return { promised, tokens };
  }
}
