import type { Prompt } from "./trace.ts";

// A replica's KV cache, in units of the trace's blocks: each is either cached whole or not at all, and occupies as many engine
// blocks as its tokens need. Blocks in use are pinned. The others are evicted, least recently used first and a prompt's tail
// before its head; so if a block is cached, all blocks before it are cached too.

const NONE = 0;

export class KvCache {
  readonly #blockTokens: number;
  readonly #capacity: number;
  readonly #nodes = new Map<number, number>();
  // Parallel arrays with one number per node. Node 0 is the head of a ring that links the unpinned nodes, oldest first.
  readonly #ids: number[] = [NONE];
  readonly #sizes: number[] = [0];
  readonly #pins: number[] = [0];
  readonly #older: number[] = [NONE];
  readonly #newer: number[] = [NONE];
  readonly #free: number[] = [];
  #used = 0;
  #pinned = 0;

  /** Both in tokens. The capacity is rounded down to whole blocks. */
  constructor(capacityTokens: number, blockTokens: number) {
    this.#blockTokens = blockTokens;
    this.#capacity = Math.floor(capacityTokens / blockTokens);
  }

  /** Capacity in tokens. */
  get tokens(): number {
    return this.#capacity * this.#blockTokens;
  }

  /** Share of the cache that requests use now, in [0, 1]. Blocks that are only kept for reuse count as free. */
  get usage(): number {
    return this.#capacity === 0 ? 0 : this.#pinned / this.#capacity;
  }

  /** Whether prompt and output fit into the cache when it is empty. */
  canEverHold(prompt: Prompt, outputTokens: number): boolean {
    let needed = this.#blocksFor(outputTokens);
    for (let index = 0; index < prompt.blocks.length; index++) needed += this.#blocksFor(prompt.tokensIn(index));
    return needed <= this.#capacity;
  }

  /** Tokens in the prompt's leading blocks that are cached. */
  heldTokens(prompt: Prompt): number {
    let tokens = 0;
    for (let index = 0; index < prompt.blocks.length && this.#nodes.has(prompt.blocks[index]!); index++) {
      tokens += prompt.tokensIn(index);
    }
    return tokens;
  }

  /**
   * Pins blocks for the prompt and private ones for its output, and evicts others if needed. Returns how many of the prompt's
   * tokens were cached before, or -1 when too few blocks can be freed.
   */
  take(prompt: Prompt, outputTokens: number): number {
    let needed = this.#blocksFor(outputTokens);
    let idleHits = 0;
    for (let index = 0; index < prompt.blocks.length; index++) {
      const node = this.#nodes.get(prompt.blocks[index]!);
      if (node === undefined) needed += this.#blocksFor(prompt.tokensIn(index));
      else if (this.#pins[node] === 0) idleHits += this.#sizes[node]!;
    }
    if (this.#pinned + idleHits + needed > this.#capacity) return -1;

    const held = this.heldTokens(prompt);
    for (let index = 0; index < prompt.blocks.length; index++) {
      const node = this.#nodes.get(prompt.blocks[index]!);
      if (node !== undefined) this.#pin(node);
    }
    this.#evictUntil(this.#capacity - needed);
    for (let index = 0; index < prompt.blocks.length; index++) {
      const id = prompt.blocks[index]!;
      if (!this.#nodes.has(id)) this.#add(id, this.#blocksFor(prompt.tokensIn(index)));
    }
    const output = this.#blocksFor(outputTokens);
    this.#used += output;
    this.#pinned += output;
    return held;
  }

  /** Frees what `take` pinned. The prompt's blocks stay cached until they are evicted. */
  release(prompt: Prompt, outputTokens: number): void {
    const output = this.#blocksFor(outputTokens);
    this.#used -= output;
    this.#pinned -= output;
    for (let index = prompt.blocks.length - 1; index >= 0; index--) {
      const node = this.#nodes.get(prompt.blocks[index]!);
      if (node !== undefined) this.#unpin(node);
    }
  }

  #blocksFor(tokens: number): number {
    return Math.ceil(tokens / this.#blockTokens);
  }

  #add(id: number, size: number): void {
    const node = this.#free.pop() ?? this.#ids.length;
    this.#ids[node] = id;
    this.#sizes[node] = size;
    this.#pins[node] = 1;
    this.#older[node] = NONE;
    this.#newer[node] = NONE;
    this.#nodes.set(id, node);
    this.#used += size;
    this.#pinned += size;
  }

  #pin(node: number): void {
    if (this.#pins[node] === 0) {
      this.#join(this.#older[node]!, this.#newer[node]!);
      this.#pinned += this.#sizes[node]!;
    }
    this.#pins[node]! += 1;
  }

  #unpin(node: number): void {
    this.#pins[node]! -= 1;
    if (this.#pins[node] !== 0) return;
    this.#pinned -= this.#sizes[node]!;
    this.#join(this.#older[NONE]!, node);
    this.#join(node, NONE);
  }

  #evictUntil(used: number): void {
    while (this.#used > used) {
      const node = this.#newer[NONE]!;
      this.#join(NONE, this.#newer[node]!);
      this.#used -= this.#sizes[node]!;
      this.#nodes.delete(this.#ids[node]!);
      this.#free.push(node);
    }
  }

  #join(older: number, newer: number): void {
    this.#newer[older] = newer;
    this.#older[newer] = older;
  }
}
