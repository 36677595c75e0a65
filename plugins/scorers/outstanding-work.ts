import { doubleZeros } from "../../core/contract/doubles.ts";
import type { Endpoint } from "../../core/contract/endpoint.ts";
import { DECODE_MS, firstTokenMs, SCALE_MS, uncachedTokens } from "../../core/contract/expected-wait.ts";
import type { LoadView } from "../../core/contract/load-view.ts";
import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";
import { Sharing } from "./sharing.ts";

const options = z.strictObject({
  /** Milliseconds added for each request in flight, because each generation makes the engine's steps a little slower. */
  decodeMs: z.number().min(0).max(1_000_000).default(DECODE_MS),
  /**
   * Largest weight of the prompt's uncached tokens. While prompts wait at most endpoints, work saved by a cached prefix also
   * shortens the wait of later requests, so it counts more. With 1, only this prompt's own wait counts.
   */
  crowdedWeight: z.number().min(1).max(1_000).default(12),
  /** Extra milliseconds, beyond the best candidate's, that halve the score. */
  scaleMs: z.number().positive().max(1_000_000_000).default(SCALE_MS),
});

/** Added to the weight for each prompt that waits everywhere. */
const WEIGHT_PER_PROMPT = 2;

/**
 * Prefers the shortest time to the first token, estimated from what the router itself knows:
 * wait = (remaining prefill tokens + weight x (own tokens + copied tokens / payers) + displaced tokens) / measured speed
 *        + decodeMs x requests in flight + what loading the adapter takes, where it is not believed to be loaded, or does not fit beside
 *        those in use
 * own tokens = tokens of this prompt that no candidate has cached; copied tokens = those that another one has cached
 * payers = how many requests in flight go on from the same cached block, at least 1: a further copy serves all of them
 * weight = min(crowdedWeight, 1 + 2 x (shortest queue + share²)), where a queue is the number of prompts that wait at a candidate and
 *          the share is that of the candidates with a longer queue than the shortest
 * displaced tokens = what the uncached tokens would evict from the candidate's cache x the chance that it is asked for again,
 *                    and at most 2 so that ties go to the cache with more room, then to the one whose oldest prompt is older
 * score = scaleMs / (scaleMs + wait - shortest wait)
 * Waits are in milliseconds; the best candidate scores 1.
 */
export default defineScorer({
  type: "outstanding-work",
  summary: "Prefers the endpoint that would respond first: least prompt work outstanding, cached prefixes deducted.",
  options,
  create({ decodeMs, crowdedWeight, scaleMs }, host) {
    host.usePrefixIndex({});
    const sharing = host.keep(1, () => new Sharing());
    return {
      score(request, candidates, load) {
        const weight = Math.min(crowdedWeight, 1 + WEIGHT_PER_PROMPT * crowding(candidates, load));
        // The list of uncached tokens becomes that of waits, then that of scores.
        const scores = doubleZeros(candidates.length);
        let deepest = 0;
        let least = Number.POSITIVE_INFINITY;
        let most = 0;
        for (let index = 0; index < candidates.length; index++) {
          const { slot } = candidates[index]!;
          deepest = Math.max(deepest, request.prefix.matchedBlocks(slot));
          const uncached = uncachedTokens(request, slot);
          scores[index] = uncached;
          least = Math.min(least, uncached);
          most = Math.max(most, uncached);
        }
        sharing.scored(request, deepest);
        const payers = most > least ? Math.max(1, sharing.underWay(candidates, load)) : 1;
        let shortest = Number.POSITIVE_INFINITY;
        for (let index = 0; index < candidates.length; index++) {
          const endpoint = candidates[index]!;
          const uncached = scores[index]!;
          const displaced = request.prefix.displacedTokens?.(endpoint.slot, uncached) ?? 0;
          const work = weight * (least + (uncached - least) / payers) + displaced;
          const waitMs = firstTokenMs(request, endpoint, load, work, decodeMs);
          scores[index] = waitMs;
          if (waitMs < shortest) shortest = waitMs;
        }
        // The parentheses matter: in another order, rounding could make the best score larger than 1.
        for (let index = 0; index < scores.length; index++) scores[index] = scaleMs / (scaleMs + (scores[index]! - shortest));
        return scores;
      },
      chosen: (request, endpoint) => sharing.sent(request, endpoint),
    };
  },
});

/**
 * How many prompts wait everywhere: the shortest queue, plus the square of the share of candidates with a longer one. That is the
 * shorter queue of two random candidates, if no queue counts for more than one prompt above the shortest: one long queue is no crowd.
 */
function crowding(candidates: readonly Endpoint[], load: LoadView): number {
  let fewest = Number.POSITIVE_INFINITY;
  let withFewest = 0;
  for (const { slot } of candidates) {
    const waiting = load.waitingPrompts(slot);
    if (waiting > fewest) continue;
    withFewest = waiting === fewest ? withFewest + 1 : 1;
    fewest = waiting;
  }
  return fewest + (1 - withFewest / candidates.length) ** 2;
}
