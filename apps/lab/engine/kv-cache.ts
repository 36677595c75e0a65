/** A prompt as an engine's cache sees it. */
export interface EnginePrompt {
  readonly tokens: number;
  /**
   * Its leading pieces by id. Equal ids mean equal prompts up to the end of that piece. A piece is cached whole or not at all;
   * tokens behind the last piece are never shared.
   */
  readonly blocks: ArrayLike<number>;
  /** Tokens in the piece at this index. */
  tokensIn(index: number): number;
}

/** Is told what a cache holds from now on, and what not any more. */
export interface CacheListener {
  /** The prompt up to its piece at this index, which ends with this token. */
  stored(prompt: EnginePrompt, piece: number, endTokens: number): void;
  removed(id: number): void;
}

/** A cached piece. Those that nobody uses are linked in a ring: a Set would be slow, as it walks over what was deleted from it. */
class Piece {
  readonly id: number;
  /** Engine blocks that it occupies. */
  readonly size: number;
  users = 1;
  older: Piece = this;
  newer: Piece = this;

  constructor(id: number, size: number) {
    this.id = id;
    this.size = size;
  }
}

/** The blocks of one request, freed by `release`. */
export interface KvLease {
  readonly prompt: EnginePrompt;
  /** Tokens of the prompt that were cached when it came. */
  readonly cachedTokens: number;
  /** Pieces that other requests can use too, head first. */
  readonly shared: Piece[];
  /** How many of the prompt's pieces, and tokens in them, are computed or were cached. */
  pieces: number;
  tokens: number;
  /** Engine blocks that no other request can share. */
  own: number;
  /** Tokens behind the last piece of the prompt, with those of the output. */
  tail: number;
}

/**
 * The KV cache of one replica: a fixed number of engine blocks. The least recently used pieces are evicted first, and a prompt's
 * tail before its head; so if a piece is cached, all pieces before it are cached too.
 */
export class KvCache {
  /** Its size in engine blocks. */
  readonly blocks: number;
  readonly #blockTokens: number;
  readonly #listener: CacheListener | undefined;
  readonly #pieces = new Map<number, Piece>();
  /** Stands in the ring of idle pieces between the newest and the oldest. */
  readonly #head = new Piece(0, 0);
  /** Engine blocks of the idle pieces, and those that requests use. */
  #idleBlocks = 0;
  #usedBlocks = 0;

  /** Both in tokens. The capacity is rounded down to whole blocks. */
  constructor(capacityTokens: number, blockTokens: number, listener?: CacheListener) {
    this.#blockTokens = blockTokens;
    this.#listener = listener;
    this.blocks = Math.floor(capacityTokens / blockTokens);
  }

  /** Capacity in tokens. */
  get tokens(): number {
    return this.blocks * this.#blockTokens;
  }

  /** Engine blocks that no request uses. */
  get freeBlocks(): number {
    return this.blocks - this.#usedBlocks;
  }

  /** Share of the cache that requests use now, in [0, 1]. Blocks that are only kept for reuse count as free. */
  get usage(): number {
    return this.blocks === 0 ? 0 : this.#usedBlocks / this.blocks;
  }

  /** Whether prompt and output fit into the cache when it is empty. */
  canEverHold(prompt: EnginePrompt, outputTokens: number): boolean {
    return this.#blocksAfter(0, prompt, outputTokens) <= this.blocks;
  }

  /** Tokens in the prompt's leading pieces that are cached. */
  heldTokens(prompt: EnginePrompt): number {
    let tokens = 0;
    for (let index = 0; index < prompt.blocks.length && this.#pieces.has(prompt.blocks[index]!); index++) {
      tokens += prompt.tokensIn(index);
    }
    return tokens;
  }

  /**
   * Reserves blocks for a prompt and the output that there is, and evicts others if needed. Only pieces that end within the first
   * `reusableTokens` are taken from the cache. Returns undefined when too few blocks can be freed.
   */
  reserve(prompt: EnginePrompt, outputTokens: number, reusableTokens: number): KvLease | undefined {
    const shared: Piece[] = [];
    let tokens = 0;
    let idleHits = 0;
    for (let index = 0; index < prompt.blocks.length; index++) {
      const piece = this.#pieces.get(prompt.blocks[index]!);
      const end = tokens + prompt.tokensIn(index);
      if (piece === undefined || end > reusableTokens) break;
      shared.push(piece);
      tokens = end;
      if (piece.users === 0) idleHits += piece.size;
    }
    const own = this.#blocksAfter(shared.length, prompt, outputTokens);
    const tail = tailOf(prompt) + outputTokens;
    if (this.#usedBlocks + idleHits + own > this.blocks) return undefined;
    for (const piece of shared) this.#pin(piece);
    this.#usedBlocks += own;
    this.#evict();
    return { prompt, cachedTokens: tokens, shared, pieces: shared.length, tokens, own, tail };
  }

  /** Engine blocks that so many more output tokens need. */
  missing({ tail }: KvLease, tokens: number): number {
    return this.#blocksFor(tail + tokens) - this.#blocksFor(tail);
  }

  /** Makes room for more output. Returns false when too few blocks can be freed. */
  grow(lease: KvLease, tokens: number): boolean {
    const blocks = this.missing(lease, tokens);
    if (blocks > this.freeBlocks) return false;
    lease.tail += tokens;
    lease.own += blocks;
    this.#usedBlocks += blocks;
    this.#evict();
    return true;
  }

  /** The prompt's first tokens are computed: from now on, other requests can share their pieces. */
  publish(lease: KvLease, computedTokens: number): void {
    const { prompt } = lease;
    for (; lease.pieces < prompt.blocks.length; lease.pieces++) {
      const tokens = prompt.tokensIn(lease.pieces);
      if (lease.tokens + tokens > computedTokens) return;
      lease.tokens += tokens;
      const id = prompt.blocks[lease.pieces]!;
      // Another request has computed the same piece meanwhile: keep both copies until they are released.
      if (this.#pieces.has(id)) continue;
      const piece = new Piece(id, this.#blocksFor(tokens));
      this.#pieces.set(id, piece);
      this.#listener?.stored(prompt, lease.pieces, lease.tokens);
      lease.shared.push(piece);
      lease.own -= piece.size;
    }
  }

  /** Frees the blocks; shared pieces stay cached until they are evicted. */
  release(lease: KvLease): void {
    this.#usedBlocks -= lease.own;
    lease.own = 0;
    for (const piece of lease.shared.reverse()) this.#unpin(piece);
    lease.shared.length = 0;
  }

  #blocksFor(tokens: number): number {
    return Math.ceil(tokens / this.#blockTokens);
  }

  /** Engine blocks for the output and for what follows the first `index` pieces. */
  #blocksAfter(index: number, prompt: EnginePrompt, outputTokens: number): number {
    let blocks = this.#blocksFor(tailOf(prompt) + outputTokens);
    for (let at = index; at < prompt.blocks.length; at++) blocks += this.#blocksFor(prompt.tokensIn(at));
    return blocks;
  }

  #pin(piece: Piece): void {
    if (piece.users === 0) {
      join(piece.older, piece.newer);
      this.#idleBlocks -= piece.size;
      this.#usedBlocks += piece.size;
    }
    piece.users += 1;
  }

  #unpin(piece: Piece): void {
    piece.users -= 1;
    if (piece.users > 0) return;
    this.#usedBlocks -= piece.size;
    this.#idleBlocks += piece.size;
    join(this.#head.older, piece);
    join(piece, this.#head);
  }

  #evict(): void {
    while (this.#usedBlocks + this.#idleBlocks > this.blocks) {
      const oldest = this.#head.newer;
      join(this.#head, oldest.newer);
      this.#pieces.delete(oldest.id);
      this.#listener?.removed(oldest.id);
      this.#idleBlocks -= oldest.size;
    }
  }
}

/** Tokens behind the last piece. */
function tailOf(prompt: EnginePrompt): number {
  let tokens = prompt.tokens;
  for (let at = 0; at < prompt.blocks.length; at++) tokens -= prompt.tokensIn(at);
  return tokens;
}

function join(older: Piece, newer: Piece): void {
  older.newer = newer;
  newer.older = older;
}
