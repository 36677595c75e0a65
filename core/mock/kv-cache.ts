import { hashNumbers, hashText } from "./tokens.ts";

/** The blocks of one request, freed by `release`. */
export interface KvLease {
  readonly cachedTokens: number;
  readonly hashes: readonly string[];
  /** Hashes of blocks shared through the prefix cache, head first. */
  readonly shared: string[];
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
  readonly #users = new Map<string, number>();
  /** Hashes of blocks that are cached and unused, oldest first. */
  readonly #idle = new Set<string>();
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

  /** Reserves blocks for a prompt and its output. Returns undefined when too few are free. */
  reserve(prompt: readonly number[], replyTokens: number, cacheKey: string): KvLease | undefined {
    const hashes = this.#hashes(prompt, cacheKey);
    const hits = this.#hits(hashes, prompt.length);
    const shared = hashes.slice(0, hits);
    const ownBlocks = Math.ceil((prompt.length + replyTokens) / this.#blockTokens) - hits;
    const idleHits = shared.filter((hash) => this.#idle.has(hash)).length;
    if (this.#users.size + this.#ownBlocks + idleHits + ownBlocks > this.#blocks) return undefined;
    for (const hash of shared) this.#pin(hash);
    this.#ownBlocks += ownBlocks;
    this.#evict();
    return { cachedTokens: hits * this.#blockTokens, hashes, shared, ownBlocks };
  }

  /** The prompt is computed: from now on, other requests can share its full blocks. */
  publish(lease: KvLease): void {
    for (const hash of lease.hashes.slice(lease.shared.length)) {
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

  #hashes(prompt: readonly number[], cacheKey: string): string[] {
    const hashes: string[] = [];
    let left = hashText(cacheKey, 0x811c9dc5);
    let right = hashText(cacheKey, 0x2c1b3c6d);
    for (let from = 0; from + this.#blockTokens <= prompt.length; from += this.#blockTokens) {
      left = hashNumbers(prompt, left, from, from + this.#blockTokens);
      right = hashNumbers(prompt, right, from, from + this.#blockTokens);
      hashes.push(`${left.toString(36)}.${right.toString(36)}`);
    }
    return hashes;
  }

  /** Number of leading blocks that are cached. The last prompt token is always computed: it yields the first output token. */
  #hits(hashes: readonly string[], promptTokens: number): number {
    const most = Math.floor((promptTokens - 1) / this.#blockTokens);
    let hits = 0;
    while (hits < most && this.#isCached(hashes[hits])) hits++;
    return hits;
  }

  #isCached(hash: string | undefined): boolean {
    return hash !== undefined && (this.#users.has(hash) || this.#idle.has(hash));
  }

  #pin(hash: string): void {
    this.#idle.delete(hash);
    this.#users.set(hash, (this.#users.get(hash) ?? 0) + 1);
  }

  #unpin(hash: string): void {
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
