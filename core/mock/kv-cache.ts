import { hashNumbers, hashText } from "./tokens.ts";

/** The blocks of one request, freed by `release`. */
export interface KvLease {
  readonly cachedTokens: number;
  readonly hashes: readonly number[];
  /** Hashes of blocks shared through the prefix cache, head first. */
  readonly shared: number[];
  /** Leading blocks that are computed, or were cached when the request came. */
  computed: number;
  /** Number of blocks that no other request can share. */
  ownBlocks: number;
}

/**
 * The KV cache of one replica: a fixed number of blocks. Full prompt blocks are found by the hash of their whole prefix. The
 * least recently used blocks are evicted first, and a prefix's tail before its head.
 */
export class KvCache {
  readonly #blockTokens: number;
  readonly #blocks: number;
  readonly #users = new Map<number, number>();
  /** Hashes of blocks that are cached and unused, oldest first. */
  readonly #idle = new Set<number>();
  #ownBlocks = 0;

  constructor(kvTokens: number, blockTokens: number) {
    this.#blockTokens = blockTokens;
    this.#blocks = Math.max(1, Math.floor(kvTokens / blockTokens));
  }

  /** Share of the blocks that requests use, in [0, 1]. Blocks that are only kept for reuse count as free. */
  get usage(): number {
    return (this.#users.size + this.#ownBlocks) / this.#blocks;
  }

  get blocks(): number {
    return this.#blocks;
  }

  /** One hash for each full block of a prompt, of everything up to the block's end. */
  hashes(prompt: readonly number[], cacheKey: string): readonly number[] {
    const hashes: number[] = [];
    let left = hashText(cacheKey, 0x811c9dc5);
    let right = hashText(cacheKey, 0x2c1b3c6d);
    for (let from = 0; from + this.#blockTokens <= prompt.length; from += this.#blockTokens) {
      left = hashNumbers(prompt, left, from, from + this.#blockTokens);
      right = hashNumbers(prompt, right, from, from + this.#blockTokens);
      // 53 bits, the most that a number holds exactly.
      hashes.push(left * 2 ** 21 + (right >>> 11));
    }
    return hashes;
  }

  /** Reserves blocks for a prompt, given by its hashes, and its output. Returns undefined when too few are free. */
  reserve(hashes: readonly number[], promptTokens: number, replyTokens: number): KvLease | undefined {
    const hits = this.#hits(hashes, promptTokens);
    const shared = hashes.slice(0, hits);
    const ownBlocks = Math.ceil((promptTokens + replyTokens) / this.#blockTokens) - hits;
    const idleHits = shared.filter((hash) => this.#idle.has(hash)).length;
    if (this.#users.size + this.#ownBlocks + idleHits + ownBlocks > this.#blocks) return undefined;
    for (const hash of shared) this.#pin(hash);
    this.#ownBlocks += ownBlocks;
    this.#evict();
    return { cachedTokens: hits * this.#blockTokens, hashes, shared, computed: hits, ownBlocks };
  }

  /** The prompt's first tokens are computed: from now on, other requests can share their full blocks. */
  publish(lease: KvLease, computedTokens: number): void {
    const computed = Math.floor(computedTokens / this.#blockTokens);
    for (; lease.computed < computed; lease.computed++) {
      const hash = lease.hashes[lease.computed]!;
      // Another request has computed the same block meanwhile: keep both copies until they are released.
      if (this.#users.has(hash) || this.#idle.has(hash)) continue;
      this.#users.set(hash, 1);
      lease.shared.push(hash);
      lease.ownBlocks -= 1;
      this.#ownBlocks -= 1;
    }
  }

  /** Frees the blocks; shared ones stay cached. */
  release(lease: KvLease): void {
    this.#ownBlocks -= lease.ownBlocks;
    lease.ownBlocks = 0;
    for (const hash of lease.shared.reverse()) this.#unpin(hash);
    lease.shared.length = 0;
  }

  /** Number of leading blocks that are cached. The last prompt token is always computed: it yields the first output token. */
  #hits(hashes: readonly number[], promptTokens: number): number {
    const most = Math.floor((promptTokens - 1) / this.#blockTokens);
    let hits = 0;
    while (hits < most && this.#isCached(hashes[hits])) hits++;
    return hits;
  }

  #isCached(hash: number | undefined): boolean {
    return hash !== undefined && (this.#users.has(hash) || this.#idle.has(hash));
  }

  #pin(hash: number): void {
    this.#idle.delete(hash);
    this.#users.set(hash, (this.#users.get(hash) ?? 0) + 1);
  }

  #unpin(hash: number): void {
    const users = (this.#users.get(hash) ?? 1) - 1;
    if (users > 0) {
      this.#users.set(hash, users);
      return;
    }
    this.#users.delete(hash);
    this.#idle.add(hash);
  }

  #evict(): void {
    let excess = this.#idle.size + this.#users.size + this.#ownBlocks - this.#blocks;
    for (const hash of this.#idle) {
      if (excess <= 0) return;
      this.#idle.delete(hash);
      excess -= 1;
    }
  }
}
