import type { CacheTestimony, CacheWitness } from "../contract/cache-witness.ts";
import type { PrefixMatch } from "../contract/prefix-match.ts";
import { type CountedPart, NO_PARTS } from "../contract/prompt-part.ts";
import type { Span } from "../contract/span.ts";
import { type HashedPrompt, hashedPrompt, tokensBefore } from "./hashed-prompt.ts";
import { HitTrust } from "./hit-trust.ts";
import { BYTES_PER_TOKEN } from "./part-size.ts";
import { blockEnds, wholeBlocks } from "./prefix-blocks.ts";
import { PrefixHasher, type PrefixKey, SECRET_WORDS } from "./prefix-hash.ts";
import type { PrefixIndexStats } from "./prefix-stats.ts";
import { type Admission, type Chain, Residency } from "./residency.ts";

export interface PrefixIndexSettings {
  /** Prompt bytes in each of the first blocks; later blocks grow. */
  readonly blockBytes: number;
  /** Memory bound of the whole index. */
  readonly maxBytes: number;
  /** Capacity of an endpoint's cache in tokens, until `setCapacity` gives the real one. */
  readonly defaultCapacityTokens?: number;
  /** Tokens of a prompt that are hashed at most, at four bytes per token. */
  readonly maxPromptTokens?: number;
  /** Whether generated text takes room in the caches; false: only prompts do. */
  readonly countGenerated?: boolean;
  /** Six 32-bit words, random by default; tests pass fixed ones. */
  readonly secret?: ArrayLike<number> | undefined;
}

const DEFAULT_CAPACITY_TOKENS = 524_288;
const DEFAULT_MAX_PROMPT_TOKENS = 1_048_576;
/** The table counts tokens in 16 bits per block and 32 bits per slot. */
const MAX_BLOCK_TOKENS = 0xffff;
const MAX_CAPACITY_TOKENS = 2 ** 30;

/** Which prompt prefixes each endpoint's KV cache is believed to hold, judged by the prompts that were sent there. */
export class PrefixIndex {
  /** Where it has a word, it counts before what this index believes. */
  witness: CacheWitness | undefined;
  /** The byte at which each block of a prompt ends. */
  readonly ends: Int32Array;
  readonly residency: Residency;
  readonly #hasher: PrefixHasher;
  readonly #defaultCapacity: number;
  readonly countsGenerated: boolean;
  readonly #trust = new HitTrust();

  constructor(settings: PrefixIndexSettings) {
    const maxPromptTokens = settings.maxPromptTokens ?? DEFAULT_MAX_PROMPT_TOKENS;
    this.ends = blockEnds(settings.blockBytes, maxPromptTokens * BYTES_PER_TOKEN);
    this.#hasher = new PrefixHasher(settings.secret ?? crypto.getRandomValues(new Uint32Array(SECRET_WORDS)));
    this.#defaultCapacity = capacity(settings.defaultCapacityTokens ?? DEFAULT_CAPACITY_TOKENS);
    this.countsGenerated = settings.countGenerated ?? false;
    this.residency = new Residency(settings.maxBytes, this.#defaultCapacity);
  }

  /** Hashes the prompt once. Scorers read the result; `admit`, `withdraw`, `generated` and `reported` take it back. */
  match(
    key: PrefixKey,
    body: Uint8Array,
    spans: readonly Span[],
    promptTokens: number,
    parts: readonly CountedPart[] = NO_PARTS,
  ): PromptPrefix {
    const prompt = hashedPrompt(spans, promptTokens, parts);
    const blocks = wholeBlocks(this.ends, prompt.bytes);
    const hashes = this.#hasher.hash(key, body, spans, this.ends, blocks, prompt.parts);
    const prefix = new PromptPrefix(this.residency, hashes, this.ends, prompt, this.#trust);
    prefix.testimony = this.witness?.about(prefix);
    return prefix;
  }

  /** The request was sent to the slot's endpoint, which will hold its whole prompt. Ignores a `prefix` not made by `match`. */
  admit(prefix: PrefixMatch, slot: number): void {
    if (prefix instanceof PromptPrefix) prefix.admit(slot);
  }

  /** The replica did not process the prompt: removes what `admit` added, unless a later request has used it. */
  withdraw(prefix: PrefixMatch, slot: number): void {
    if (prefix instanceof PromptPrefix) prefix.withdraw(slot);
  }

  /** The response is complete: the cache holds `tokens` generated tokens after the prompt. */
  generated(prefix: PrefixMatch, slot: number, tokens: number): void {
    if (this.countsGenerated && this.#isOwn(prefix)) this.residency.extend(prefix, slot, Math.min(MAX_BLOCK_TOKENS, tokens));
  }

  /** The replica restarted, or another one has the slot: its cache is empty. */
  forget(slot: number): void {
    this.residency.forget(slot);
    this.#trust.forget(slot);
  }

  /** Sets the capacity of the endpoint's cache in tokens; undefined sets the default. */
  setCapacity(slot: number, tokens: number | undefined): void {
    const isKnown = tokens !== undefined && !Number.isNaN(tokens);
    this.residency.setCapacity(slot, isKnown ? capacity(tokens) : this.#defaultCapacity);
  }

  /** The replica reported how many tokens of the prompt its cache held. */
  reported(prefix: PrefixMatch, slot: number, cachedTokens: number): void {
    if (this.#isOwn(prefix)) this.#trust.learn(slot, prefix.heldTokens(slot), cachedTokens);
  }

  /** One that another index made, before a change of the config, says nothing of this one's blocks. */
  #isOwn(prefix: PrefixMatch): prefix is PromptPrefix {
    return prefix instanceof PromptPrefix && prefix.residency === this.residency;
  }

  stats(): PrefixIndexStats {
    const { count, maxEntries, bytes } = this.residency.table;
    return { entries: count, maxEntries, bytes, slots: this.residency.slots() };
  }
}

/** One prompt's hashes, and how many blocks each slot held when that was first read. */
export class PromptPrefix implements PrefixMatch, Chain {
  readonly blocks: number;
  readonly hashes: readonly number[];
  readonly residency: Residency;
  testimony: CacheTestimony | undefined = undefined;
  readonly #ends: Int32Array;
  readonly #prompt: HashedPrompt;
  /** Estimated tokens of the whole prompt. */
  readonly #tokens: number;
  readonly #trust: HitTrust;
  /** By slot: blocks held, or -1 before the first read. A plain array, for the same reason as the hashes. */
  readonly #held: number[];
  /** The last depth found: endpoints often hold the same number of blocks. */
  #guess = 0;
  /** One for each slot that the request was sent to; usually one. */
  #admissions: readonly Admission[] = [];

  constructor(residency: Residency, hashes: readonly number[], ends: Int32Array, prompt: HashedPrompt, trust: HitTrust) {
    this.blocks = hashes.length / 2;
    this.hashes = hashes;
    this.residency = residency;
    this.#ends = ends;
    this.#prompt = prompt;
    this.#tokens = tokensBefore(prompt, prompt.bytes);
    this.#trust = trust;
    this.#held = unread(residency.slotsUsed);
  }

  matchedBlocks(slot: number): number {
    if (slot >= this.#held.length) return 0;
    const known = this.#held[slot]!;
    if (known >= 0) return known;
    this.#guess = this.residency.depth(this, slot, this.#guess);
    this.#held[slot] = this.#guess;
    return this.#guess;
  }

  matchedTokens(slot: number): number {
    const believed = Math.round(Math.min(this.#tokens, this.heldTokens(slot) * this.#trust.of(slot)));
    return this.testimony?.heldTokens(slot, believed) ?? believed;
  }

  /** Tokens of the blocks held, without the slot's correction by `HitTrust`. */
  heldTokens(slot: number): number {
    return this.#tokensIn(this.matchedBlocks(slot));
  }

  displacedTokens(slot: number, tokens: number): number {
    return this.blocks === 0 ? 0 : this.residency.displaced(slot, tokens);
  }

  matchedFraction(slot: number): number {
    if (this.blocks === 0) return 0;
    const believed = this.heldTokens(slot);
    return Math.min(1, (this.testimony?.heldTokens(slot, believed) ?? believed) / this.#tokensIn(this.blocks));
  }

  tokensIn(block: number): number {
    const tokens = Math.round(this.#tokensIn(block + 1) - this.#tokensIn(block));
    return Math.min(MAX_BLOCK_TOKENS, Math.max(1, tokens));
  }

  admit(slot: number): void {
    if (this.blocks === 0) return;
    const admission = this.residency.admit(this, slot, this.matchedBlocks(slot));
    if (this.#admissions.length === 0) this.#admissions = [admission];
    else this.#admissions = [...this.#admissions.filter((other) => other.slot !== slot), admission];
  }

  withdraw(slot: number): void {
    const admission = this.#admissions.find((other) => other.slot === slot);
    if (admission === undefined) return;
    this.#admissions = this.#admissions.filter((other) => other !== admission);
    this.residency.withdraw(this, admission);
  }

  /** Tokens of the first `blocks` blocks. */
  #tokensIn(blocks: number): number {
    return blocks === 0 ? 0 : tokensBefore(this.#prompt, this.#ends[blocks - 1]!);
  }
}

let unreadScratch = new Array<number>(64).fill(-1);

/** A slice, because filling a list for each request costs more. */
function unread(slots: number): number[] {
  if (slots > unreadScratch.length) unreadScratch = new Array<number>(2 * slots).fill(-1);
  return unreadScratch.slice(0, slots);
}

function capacity(tokens: number): number {
  return Math.min(MAX_CAPACITY_TOKENS, Math.max(0, Math.round(tokens)));
}
