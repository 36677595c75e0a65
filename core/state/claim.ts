import type { Endpoint } from "../contract/endpoint.ts";
import { uncachedTokens } from "../contract/expected-wait.ts";
import type { Usage } from "../contract/outcome.ts";
import type { InferenceRequest } from "../contract/request.ts";
import { Lease } from "./lease.ts";
import type { LoadTable } from "./load.ts";
import { tokensOf } from "./part-scale.ts";
import type { PrefixIndex } from "./prefix-index.ts";

/**
 * What one try claims of one endpoint: a share of its load, and a place for the prompt in its cache. When another replica has the
 * endpoint's slot by now, late calls leave that replica's entries in the prefix index as they are.
 */
export class Claim {
  /** Prompt tokens believed to be in the endpoint's cache. */
  readonly predictedTokens: number;
  /** Prompt tokens that the endpoint has to work off for it. */
  readonly uncachedTokens: number;
  readonly #endpoint: Endpoint;
  readonly #request: InferenceRequest;
  readonly #load: LoadTable;
  readonly #prefixIndex: PrefixIndex | undefined;
  readonly #lease: Lease;
  #isAdmitted = false;
  #isWithdrawn = false;

  constructor(
    request: InferenceRequest,
    endpoint: Endpoint,
    load: LoadTable,
    prefixIndex: PrefixIndex | undefined,
    nowMs: number,
  ) {
    const { prefix } = request;
    this.predictedTokens = prefix.matchedTokens(endpoint.slot);
    // Whole numbers, so that a million sums leave no residue.
    this.uncachedTokens = Math.round(uncachedTokens(request, endpoint.slot));
    this.#endpoint = endpoint;
    this.#request = request;
    this.#load = load;
    this.#prefixIndex = prefixIndex;
    const work = { tokens: this.uncachedTokens, hasFirstByte: request.isStream };
    const uncertain = Math.min(work.tokens, uncertainTokens(request, endpoint.slot));
    this.#lease = new Lease(load, endpoint.slot, work, uncertain, nowMs);
    // A few bytes may name many tokens of a file that is elsewhere: such a prompt evicts nothing before the replica has taken it.
    if (request.promptParts.length === 0) this.#admit();
  }

  /** The first byte of the response's body came: the prompt is processed, unless the response is an error. */
  firstByte(nowMs: number): void {
    if (this.#isWithdrawn) return;
    this.#lease.firstByte(nowMs);
    this.#admit();
  }

  /** The response is complete, and the replica reported its usage. */
  report({ promptTokens, cachedTokens, outputTokens }: Usage): void {
    if (!this.#isCurrent()) return;
    if (promptTokens >= cachedTokens) this.#lease.reported(promptTokens - cachedTokens);
    this.#prefixIndex?.reported(this.#request.prefix, this.#endpoint.slot, cachedTokens);
    if (outputTokens > 0) this.generated(outputTokens);
  }

  /** The response is complete: the cache holds `tokens` generated tokens after the prompt. */
  generated(tokens: number): void {
    if (this.#isCurrent()) this.#prefixIndex?.generated(this.#request.prefix, this.#endpoint.slot, tokens);
  }

  /** The request is given up. A prompt that still waited behind others is in no cache. */
  abandoned(nowMs: number): void {
    if (!this.#lease.hasBegun(nowMs)) this.withdraw();
  }

  /** The replica did not process the prompt: removes it from the prefix index again. */
  withdraw(): void {
    if (this.#isWithdrawn) return;
    this.#isWithdrawn = true;
    if (!this.#isAdmitted) return;
    if (this.#isCurrent()) this.#prefixIndex?.withdraw(this.#request.prefix, this.#endpoint.slot);
  }

  /** The try is over, however it ended. */
  release(nowMs: number): void {
    this.#lease.release(nowMs);
  }

  #admit(): void {
    if (this.#isAdmitted || this.#isWithdrawn || !this.#isCurrent()) return;
    this.#isAdmitted = true;
    this.#prefixIndex?.admit(this.#request.prefix, this.#endpoint.slot);
  }

  #isCurrent(): boolean {
    return this.#load.isCurrent(this.#endpoint);
  }
}

/**
 * Tokens that may not have to be computed: those of parts that are not text, which are guessed, and what may be cached beyond the
 * whole blocks that are known to be: a part of the next block, or of the prompt's end after its last whole block.
 */
function uncertainTokens({ prefix, promptTokens, promptParts }: InferenceRequest, slot: number): number {
  const held = prefix.matchedBlocks(slot);
  const guessed = tokensOf(promptParts);
  if (held === 0) return guessed;
  return guessed + Math.ceil(held < prefix.blocks ? (prefix.tokensIn?.(held) ?? 0) : promptTokens);
}
