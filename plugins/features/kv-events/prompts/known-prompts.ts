import type { HashedChain } from "../../../../core/contract/cache-witness.ts";
import { type PromptExtras, tokenKeys } from "./token-keys.ts";

/** A prompt whose tokens are known. */
export interface KnownPrompt {
  /** The engines' block sizes, and the keys of its blocks of that size. */
  readonly keys: ReadonlyMap<number, Int32Array>;
  /** Tokens up to the end of each of the router's blocks. */
  readonly ends: Int32Array;
  /** The numbers of the router's blocks in the table. */
  readonly chain: readonly number[];
  /** Slots to which requests with it are under way: there it will be cached soon, whatever events say. */
  readonly pending: number[];
}

/** Where the known part of a prompt ends. */
export interface KnownPart {
  readonly prompt: KnownPrompt;
  /** Of the router's blocks. */
  readonly blocks: number;
  readonly tokens: number;
}

/** Entries of the table, and words of keys, that all prompts together may have. */
const MOST_ENTRIES = 200_000;
const MOST_WORDS = 8_000_000;

/** The prompts whose tokens are known, found by the hashes that the prefix index has of them. The least recently used are forgotten. */
export class KnownPrompts {
  /** By the hash of the router's block: the newest prompt that has it. */
  readonly #byBlock = new Map<number, KnownPrompt>();
  /** In the order of their last use, with the number of blocks that lead to them. */
  readonly #uses = new Map<KnownPrompt, number>();
  #words = 0;

  get size(): number {
    return this.#uses.size;
  }

  /** The longest part of the prompt whose tokens are known. Takes a look-up for each doubling of its length. */
  find({ hashes, blocks }: HashedChain): KnownPart | undefined {
    let known = 0;
    let open = blocks;
    let prompt: KnownPrompt | undefined;
    while (known < open) {
      const middle = (known + open) >>> 1;
      const found = this.#byBlock.get(numberOf(hashes, middle));
      if (found === undefined) open = middle;
      else {
        known = middle + 1;
        prompt = found;
      }
    }
    return prompt && { prompt, blocks: known, tokens: prompt.ends[known - 1]! };
  }

  /** `tokens` are those of the whole prompt. `sizes`: the engines' block sizes. */
  learn(chain: HashedChain, tokens: ArrayLike<number>, sizes: Iterable<number>, extras: PromptExtras): void {
    if (chain.blocks === 0) return;
    const keys = new Map([...sizes].map((size) => [size, tokenKeys(tokens, size, extras)]));
    const ends = this.#endsOf(chain, tokens.length, keys);
    this.#put({ keys, ends, chain: Array.from({ length: chain.blocks }, (_, i) => numberOf(chain.hashes, i)), pending: [] });
    this.#trim();
  }

  /** A request has the prompt: it is the last one to be forgotten. */
  used(prompt: KnownPrompt): void {
    const blocks = this.#uses.get(prompt);
    if (blocks === undefined) return;
    this.#uses.delete(prompt);
    this.#uses.set(prompt, blocks);
  }

  clear(): void {
    this.#byBlock.clear();
    this.#uses.clear();
    this.#words = 0;
  }

  /**
   * Tokens up to the end of each block. Where a block ends in the tokens nobody says; it is in proportion between the places that are
   * known: the prompt's end, and how far the engines' blocks are those of an earlier prompt with the same beginning.
   */
  #endsOf(chain: HashedChain, total: number, keys: ReadonlyMap<number, Int32Array>): Int32Array {
    const ends = new Int32Array(chain.blocks);
    const before = this.find(chain);
    let at = 0;
    let tokens = 0;
    if (before !== undefined) {
      tokens = clamped(before.tokens, sharedTokens(before.prompt.keys, keys), total);
      const scale = tokens / Math.max(1, before.tokens);
      for (; at < before.blocks; at++) ends[at] = Math.floor(before.prompt.ends[at]! * scale);
    }
    let estimated = 0;
    for (let block = at; block < chain.blocks; block++) estimated += chain.tokensIn(block);
    // Behind the last whole block there is less than one.
    const scale = Math.max(0, total - tokens) / Math.max(1, estimated + chain.tokensIn(chain.blocks - 1) / 2);
    let sum = 0;
    for (; at < chain.blocks; at++) {
      sum += chain.tokensIn(at);
      ends[at] = Math.min(total, Math.floor(tokens + sum * scale));
    }
    return ends;
  }

  #put(prompt: KnownPrompt): void {
    for (const number of prompt.chain) {
      const before = this.#byBlock.get(number);
      if (before !== undefined) this.#release(before);
      this.#byBlock.set(number, prompt);
    }
    this.#uses.set(prompt, prompt.chain.length);
    this.#words += wordsOf(prompt);
  }

  /** One block less leads to it. */
  #release(prompt: KnownPrompt): void {
    const left = this.#uses.get(prompt)! - 1;
    if (left > 0) return void this.#uses.set(prompt, left);
    this.#uses.delete(prompt);
    this.#words -= wordsOf(prompt);
  }

  #trim(): void {
    for (const [prompt] of this.#uses) {
      if (this.#byBlock.size <= MOST_ENTRIES && this.#words <= MOST_WORDS) return;
      for (const number of prompt.chain) if (this.#byBlock.get(number) === prompt) this.#byBlock.delete(number);
      this.#uses.delete(prompt);
      this.#words -= wordsOf(prompt);
    }
  }
}

/** How many tokens two prompts have in common, in whole blocks of an engine, and the size of a block. */
function sharedTokens(one: ReadonlyMap<number, Int32Array>, other: ReadonlyMap<number, Int32Array>) {
  for (const [size, keys] of one) {
    const others = other.get(size);
    if (others === undefined) continue;
    const most = Math.min(keys.length, others.length);
    let words = 0;
    while (words < most && keys[words] === others[words]) words += 2;
    return { least: (words / 2) * size, most: words < most ? (words / 2 + 1) * size - 1 : Number.POSITIVE_INFINITY };
  }
  return { least: 0, most: Number.POSITIVE_INFINITY };
}

function clamped(value: number, { least, most }: { readonly least: number; readonly most: number }, total: number): number {
  return Math.min(total, most, Math.max(least, value));
}

/** 53 bits of a block's hash. */
function numberOf(hashes: ArrayLike<number>, block: number): number {
  return (hashes[2 * block + 1]! & 0x1fffff) * 2 ** 32 + (hashes[2 * block]! >>> 0);
}

function wordsOf({ keys, ends }: KnownPrompt): number {
  let words = ends.length;
  for (const list of keys.values()) words += list.length;
  return words;
}
