import type { Leg } from "../contract/decision.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import { NUMBERS_PER_ENDPOINT } from "../contract/estimate.ts";
import { firstTokenAfterMs } from "../contract/expected-wait.ts";
import type { LoadView } from "../contract/load-view.ts";
import { NO_PREFIX } from "../contract/prefix-match.ts";
import type { InferenceRequest } from "../contract/request.ts";

/** The endpoints that a request can be tried at and that people compare; a pool of 1,000 must not pay for all of them. */
export const MOST_ESTIMATED = 16;

/** All requests share this memory. A plain array: V8 allocates typed arrays of this size outside its heap, which costs more. */
const numbers = new Array<number>(NUMBERS_PER_ENDPOINT * MOST_ESTIMATED).fill(0.5);

/**
 * What is expected at the first endpoints of the order: three numbers for each, as `estimateAt` reads them. The time has the
 * formula of the scorer outstanding-work, where the prompt's own tokens weigh as much as those that wait. Without a prefix index
 * nothing counts as cached.
 */
export function estimate(request: InferenceRequest, order: readonly Endpoint[], load: LoadView): Leg["estimates"] {
  const { prefix, promptTokens } = request;
  const count = Math.min(order.length, MOST_ESTIMATED);
  const isPrefixKnown = prefix !== NO_PREFIX;
  for (let place = 0; place < count; place++) {
    const endpoint = order[place]!;
    const { slot } = endpoint;
    const cached = isPrefixKnown ? Math.min(promptTokens, prefix.matchedTokens(slot)) : 0;
    const at = NUMBERS_PER_ENDPOINT * place;
    numbers[at] = isPrefixKnown ? cached : Number.NaN;
    const waiting = load.remainingPrefill(slot);
    numbers[at + 1] = waiting;
    numbers[at + 2] = load.isRateKnown(slot)
      ? firstTokenAfterMs(request, endpoint, load, waiting + (promptTokens - cached))
      : Number.NaN;
  }
  return numbers.slice(0, NUMBERS_PER_ENDPOINT * count);
}
