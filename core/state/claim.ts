import type { Usage } from "../contract/decision.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { InferenceRequest } from "../contract/request.ts";
import { Lease, type LoadTable } from "./load.ts";
import type { PrefixIndex } from "./prefix-index.ts";

/** What one attempt claims of one endpoint: its share of the load, and that the prompt will be in its cache. */
export class Claim {
  readonly endpoint: Endpoint;
  /** Prompt tokens believed to be in its cache. */
  readonly predictedTokens: number;
  readonly #request: InferenceRequest;
  readonly #prefixIndex: PrefixIndex | undefined;
  readonly #lease: Lease;
  #isAdmitted = true;

  constructor(request: InferenceRequest, endpoint: Endpoint, load: LoadTable, prefixIndex: PrefixIndex | undefined) {
    const { prefix, promptTokens } = request;
    // Whole numbers, so that a million sums leave no residue.
    const predictedTokens = prefix.matchedTokens(endpoint.slot);
    const uncachedTokens = Math.max(0, Math.round(promptTokens - predictedTokens));
    this.predictedTokens = predictedTokens;
    this.endpoint = endpoint;
    this.#request = request;
    this.#prefixIndex = prefixIndex;
    this.#lease = new Lease(load, endpoint.slot, { tokens: uncachedTokens, hasFirstByte: request.isStream });
    prefixIndex?.admit(prefix, endpoint.slot);
  }

  /** The first byte of the answer's body came: the prompt has been worked off. */
  firstByte(): void {
    this.#lease.firstByte();
  }

  /** The answer is complete, and the replica says what it took. */
  report({ cachedTokens, outputTokens }: Usage): void {
    this.#prefixIndex?.reported(this.#request.prefix, this.endpoint.slot, cachedTokens);
    if (outputTokens > 0) this.generated(outputTokens);
  }

  /** The answer is complete: so many tokens stand behind the prompt in the same cache. */
  generated(tokens: number): void {
    this.#prefixIndex?.generated(this.#request.prefix, this.endpoint.slot, tokens);
  }

  /** The replica did not work on the prompt: what was believed of its cache is taken back. */
  withdraw(): void {
    if (!this.#isAdmitted) return;
    this.#isAdmitted = false;
    this.#prefixIndex?.withdraw(this.#request.prefix, this.endpoint.slot);
  }

  /** The attempt is over, however it ended. */
  release(): void {
    this.#lease.release();
  }
}
