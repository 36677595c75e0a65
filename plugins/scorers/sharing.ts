import type { Endpoint } from "../../core/contract/endpoint.ts";
import type { LoadView } from "../../core/contract/load-view.ts";
import type { InferenceRequest } from "../../core/contract/request.ts";

/** Prompts remembered; a pool with more requests in flight counts no more. */
const MOST = 1_024;
/** Of a prompt that no candidate holds a block of. */
const NOTHING = 0;

/**
 * Which of the latest prompts are continued from the same cached block: as many as there are requests in flight count as under way. Many
 * at once are a shared beginning (a system prompt, a document, one prompt sent again and again); the turns of a session come one by one.
 */
export class Sharing {
  /** The latest prompts' blocks, each by one word of its hash; a ring. */
  readonly #latest = new Int32Array(MOST);
  #next = 0;
  /** The last one that was scored: nearly always the one that is sent next. */
  #scored: InferenceRequest | undefined;
  #block = NOTHING;

  /** How many of the requests in flight continue the longest part of the prompt that any candidate holds. */
  others(request: InferenceRequest, deepest: number, candidates: readonly Endpoint[], load: LoadView): number {
    this.#scored = request;
    this.#block = blockAt(request, deepest);
    if (this.#block === NOTHING) return 0;
    let inFlight = 0;
    for (const { slot } of candidates) inFlight += load.inFlight(slot);
    let count = 0;
    for (let ago = Math.min(MOST, inFlight); ago > 0; ago--)
      if (this.#latest[(this.#next + MOST - ago) % MOST] === this.#block) count += 1;
    return count;
  }

  /** The request is sent. */
  sent(request: InferenceRequest, { slot }: Endpoint): void {
    this.#latest[this.#next] = request === this.#scored ? this.#block : blockAt(request, request.prefix.matchedBlocks(slot));
    this.#next = (this.#next + 1) % MOST;
    this.#scored = undefined;
  }
}

/** The last one of the prompt's first `blocks` blocks. */
function blockAt({ prefix }: InferenceRequest, blocks: number): number {
  return blocks === 0 ? NOTHING : (prefix.hashes?.[2 * blocks - 2] ?? NOTHING) | 0;
}
