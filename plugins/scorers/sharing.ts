import type { Endpoint } from "../../core/contract/endpoint.ts";
import type { LoadView } from "../../core/contract/load-view.ts";
import type { InferenceRequest } from "../../core/contract/request.ts";

/** Prompts remembered; where more requests are in flight, these are enough to tell. */
const MOST = 1_024;
/** Of a prompt that no candidate holds a block of. */
const NOTHING = 0;

/**
 * How many of the latest prompts go on from the same cached block. As many as there are requests in flight count as under way: many of
 * them with one block are a shared beginning (a document, a system prompt, one prompt sent again and again), while the turns of a session
 * come one by one.
 */
export class Sharing {
  /** The latest prompts' blocks, each as one word of its hash; a ring. */
  readonly #latest = new Int32Array(MOST);
  #next = 0;
  /** The request that was scored last, which is nearly always the one that is sent next. */
  #scored: InferenceRequest | undefined;
  #block = NOTHING;

  /** `blocks`: the most of the prompt's blocks that any candidate holds. */
  scored(request: InferenceRequest, blocks: number): void {
    this.#scored = request;
    this.#block = blockAt(request, blocks);
  }

  /** How many of the requests in flight go on from the same block as the request that was scored last. */
  underWay(candidates: readonly Endpoint[], load: LoadView): number {
    if (this.#block === NOTHING) return 0;
    let inFlight = 0;
    for (const { slot } of candidates) inFlight += load.inFlight(slot);
    let count = 0;
    for (let ago = Math.min(MOST, inFlight); ago > 0; ago--) {
      if (this.#latest[(this.#next + MOST - ago) % MOST] === this.#block) count += 1;
    }
    return count;
  }

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
