import { hashNumbers, hashText } from "./tokens.ts";

/** The blocks one request holds; given back through `release`. */
export interface KvLease {
  readonly cachedTokens: number;
  readonly hashes: readonly string[];
  /** Blocks shared through the prefix cache, head first. */
  readonly shared: string[];
  /** Blocks nobody else can find. */
  ownBlocks: number;
}

/**
 * The KV cache of one replica: a fixed number of blocks, full prompt blocks found again by the hash of the whole
 * prefix, least recently used ones evicted first and the head of a prefix last.
 */
export class KvCache {
  readonly #blockTokens: number;
  readonly #blocks: number;
  readonly #users = new Map<string, number>();
  /** Cached and unused, oldest first. */
  readonly #idle = new Set<string>();
  #ownBlocks = 0;

  constructor(kvTokens: number, blockTokens: number) {
    this.#blockTokens = blockTokens;
    this.#blocks = Math.max(1, Math.floor(kvTokens / blockTokens));
  }

  /** Share of the blocks held by requests; what is only kept for reuse counts as free. */
  get usage(): number {
    return (this.#users.size + this.#ownBlocks) / this.#blocks;
  }

  get blocks(): number {
    return this.#blocks;
  }

  /** Takes the blocks for a prompt and its reply, or undefined when too few are free. */
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

  /** The prompt is computed: its full blocks can be found by others from now on. */
  publish(lease: KvLease): void {
    for (const hash of lease.hashes.slice(lease.shared.length)) {
      // Someone computed the same block meanwhile: both copies stay until they are released.
      if (this.#users.has(hash) || this.#idle.has(hash)) continue;
      this.#users.set(hash, 1);
      lease.shared.push(hash);
      lease.ownBlocks -= 1;
      this.#ownBlocks -= 1;
    }
  }

  /** Gives the blocks back; shared ones stay cached. */
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

  /** Leading blocks that are cached; the last token is always computed, as it yields the first one of the reply. */
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
