import type { KvCache, KvLease } from "../../engine/kv-cache.ts";
import { hashedPrompt } from "../tokens.ts";

/** Room for a prompt that another replica sends. */
export interface Reception {
  /** Tokens that are cached here already, in full blocks. */
  readonly localTokens: number;
  /** The blocks are here: from now on the cache knows the prompt. */
  finish(): void;
  /** Nothing came. */
  drop(): void;
}

interface Waiter {
  readonly prompt: readonly number[];
  readonly cacheKey: string;
  readonly resolve: (reception: Reception | undefined) => void;
}

/**
 * Blocks of an engine's cache that none of its requests owns. A prompt that comes from another replica has its blocks reserved before
 * the transfer, as in vLLM. They are released when it has come, and stay cached: the request finds them a step later, unless the cache
 * is so full that others took them meanwhile; then they are computed.
 */
export class SharedBlocks {
  readonly #cache: KvCache;
  readonly #blockTokens: number;
  readonly #onChange: () => void;
  /** Those without room yet, in order. Each belongs to an open request. */
  readonly #waiters: Waiter[] = [];
  #arriving = 0;

  constructor(cache: KvCache, blockTokens: number, onChange: () => void) {
    this.#cache = cache;
    this.#blockTokens = blockTokens;
    this.#onChange = onChange;
  }

  /** Requests that wait for a transfer. */
  get deferred(): number {
    return this.#waiters.length + this.#arriving;
  }

  /** Keeps the blocks of a prompt that was just computed; undefined when the cache is too full for that. */
  hold(prompt: readonly number[], cacheKey: string): { readonly blocks: number; release(): void } | undefined {
    const lease = this.#reserve(prompt, cacheKey);
    if (lease === undefined) return undefined;
    this.#cache.publish(lease, prompt.length);
    const blocks = Math.ceil(prompt.length / this.#blockTokens);
    return { blocks, release: () => this.#release(lease) };
  }

  /** Resolves when there is room for a prompt; with undefined when it is given up before that. */
  receive(prompt: readonly number[], cacheKey: string): { readonly room: Promise<Reception | undefined>; cancel(): void } {
    let resolve!: Waiter["resolve"];
    const room = new Promise<Reception | undefined>((settle) => {
      resolve = settle;
    });
    const waiter: Waiter = { prompt, cacheKey, resolve };
    this.#waiters.push(waiter);
    this.retry();
    this.#onChange();
    return { room, cancel: () => this.#cancel(waiter) };
  }

  /** Blocks may be free now. */
  retry(): void {
    for (let waiter = this.#waiters[0]; waiter !== undefined; waiter = this.#waiters[0]) {
      const lease = this.#reserve(waiter.prompt, waiter.cacheKey);
      if (lease === undefined) return;
      this.#waiters.shift();
      waiter.resolve(this.#reception(lease));
    }
  }

  #reception(lease: KvLease): Reception {
    this.#arriving += 1;
    const end = () => {
      this.#arriving -= 1;
      this.#release(lease);
    };
    return {
      localTokens: lease.cachedTokens,
      finish: () => {
        this.#cache.publish(lease, lease.prompt.tokens);
        end();
      },
      drop: end,
    };
  }

  #reserve(prompt: readonly number[], cacheKey: string): KvLease | undefined {
    return this.#cache.reserve(hashedPrompt(prompt, cacheKey, this.#blockTokens), 0, prompt.length);
  }

  #release(lease: KvLease): void {
    this.#cache.release(lease);
    this.retry();
    this.#onChange();
  }

  #cancel(waiter: Waiter): void {
    const at = this.#waiters.indexOf(waiter);
    if (at < 0) return;
    this.#waiters.splice(at, 1);
    waiter.resolve(undefined);
    this.retry();
    this.#onChange();
  }
}
