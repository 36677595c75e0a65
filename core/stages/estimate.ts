import type { Leg } from "../contract/decision.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import { firstTokenMs } from "../contract/expected-wait.ts";
import type { LoadView } from "../contract/load-view.ts";
import { NO_PREFIX } from "../contract/prefix-match.ts";
import type { InferenceRequest } from "../contract/request.ts";

/** The endpoints that a request can be tried at and that people compare; a pool of 1,000 must not pay for all of them. */
export const MOST_ESTIMATED = 16;

/** All requests share this memory. A plain array: V8 allocates typed arrays of this size outside its heap, which costs more. */
const numbers = new Array<number>(3 * MOST_ESTIMATED).fill(0.5);

/**
 * What is expected at the first endpoints of the order: three numbers for each, as `estimateAt` reads them. The time has the formula
 * of the scorer outstanding-work, where the prompt's own tokens weigh as much as those that wait. Without a prefix index nothing counts
 * as cached.
 */
export function estimate(request: InferenceRequest, order: readonly Endpoint[], load: LoadView): Leg["estimates"] {
  const { prefix, promptTokens } = request;
  const count = Math.min(order.length, MOST_ESTIMATED);
  const isPrefixKnown = prefix !== NO_PREFIX;
  for (let place = 0; place < count; place++) {
    const endpoint = order[place]!;
    const { slot } = endpoint;
    const cached = isPrefixKnown ? Math.min(promptTokens, prefix.matchedTokens(slot)) : 0;
    const ms = load.isRateKnown(slot) ? firstTokenMs(request, endpoint, load, promptTokens - cached) : Number.NaN;
    numbers[3 * place] = isPrefixKnown ? cached : Number.NaN;
    numbers[3 * place + 1] = load.remainingPrefill(slot);
    numbers[3 * place + 2] = ms;
  }
  return numbers.slice(0, 3 * count);
}
