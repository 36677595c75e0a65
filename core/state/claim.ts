import type { Endpoint } from "../endpoint.ts";
import type { InferenceRequest } from "../request.ts";
import { Lease, type LoadTable } from "./load.ts";
import type { PrefixIndex } from "./prefix-index.ts";

/** What one attempt claims of one endpoint: its share of the load, and that the prompt will be in its cache. */
export class Claim {
  readonly endpoint: Endpoint;
  readonly #request: InferenceRequest;
  readonly #prefixIndex: PrefixIndex | undefined;
  readonly #lease: Lease;
  #isAdmitted = true;

  constructor(request: InferenceRequest, endpoint: Endpoint, load: LoadTable, prefixIndex: PrefixIndex | undefined) {
    const { prefix, promptTokens } = request;
    // Whole numbers, so that a million sums leave no residue.
    const uncachedTokens = Math.max(0, Math.round(promptTokens - prefix.matchedTokens(endpoint.slot)));
    this.endpoint = endpoint;
    this.#request = request;
    this.#prefixIndex = prefixIndex;
    this.#lease = new Lease(load, endpoint.slot, uncachedTokens);
    prefixIndex?.admit(prefix, endpoint.slot);
  }

  /** The first byte of the answer's body came: the prompt has been worked off. */
  firstByte(): void {
    this.#lease.firstByte();
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
