import type { Named } from "../active-config.ts";
import type { Fault, Leg } from "../contract/decision.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import { NUMBERS_PER_ENDPOINT } from "../contract/estimate.ts";
import { firstTokenMs } from "../contract/expected-wait.ts";
import type { LatencyEstimator } from "../contract/latency-estimator.ts";
import type { LoadView } from "../contract/load-view.ts";
import { NO_PREFIX } from "../contract/prefix-match.ts";
import type { InferenceRequest } from "../contract/request.ts";
import { numberFrom } from "./number-from.ts";
import { faultText } from "./plugin-faults.ts";

/** The endpoints that a request can be tried at and that people compare; a pool of 1,000 must not pay for all of them. */
export const MOST_ESTIMATED = 16;

/** All requests share this memory. A plain array: V8 allocates typed arrays of this size outside its heap, which costs more. */
const numbers = new Array<number>(NUMBERS_PER_ENDPOINT * MOST_ESTIMATED).fill(0.5);

/**
 * What is expected at the first endpoints of the order: four numbers for each, as `estimateAt` reads them. Without an estimator the
 * time has the formula of the scorer outstanding-work, where the prompt's own tokens weigh as much as those that wait. Without a
 * prefix index nothing counts as cached.
 */
export function estimate(
  request: InferenceRequest,
  order: readonly Endpoint[],
  load: LoadView,
  estimator?: LatencyEstimator,
): Leg["estimates"] {
  const { prefix, promptTokens } = request;
  const count = Math.min(order.length, MOST_ESTIMATED);
  const isPrefixKnown = prefix !== NO_PREFIX;
  for (let place = 0; place < count; place++) {
    const endpoint = order[place]!;
    const { slot } = endpoint;
    const cached = isPrefixKnown ? Math.min(promptTokens, prefix.matchedTokens(slot)) : 0;
    const at = NUMBERS_PER_ENDPOINT * place;
    numbers[at] = isPrefixKnown ? cached : Number.NaN;
    numbers[at + 1] = load.remainingPrefill(slot);
    numbers[at + 2] = Number.NaN;
    numbers[at + 3] = estimator === undefined ? Number.NaN : numberFrom(estimator.tokenMs(request, endpoint, load));
    if (estimator !== undefined) numbers[at + 2] = numberFrom(estimator.firstTokenMs(request, endpoint, load));
    else if (load.isRateKnown(slot)) numbers[at + 2] = firstTokenMs(request, endpoint, load, promptTokens - cached);
  }
  return numbers.slice(0, NUMBERS_PER_ENDPOINT * count);
}

/** What is expected by the profile's estimator; without one, or if it throws, by the router's own formula. */
export function estimateBy(
  estimator: Named<LatencyEstimator> | undefined,
  request: InferenceRequest,
  order: readonly Endpoint[],
  load: LoadView,
): { readonly estimates: Leg["estimates"]; readonly fault?: Fault } {
  if (estimator === undefined) return { estimates: estimate(request, order, load) };
  try {
    return { estimates: estimate(request, order, load, estimator.plugin) };
  } catch (thrown) {
    return {
      estimates: estimate(request, order, load),
      fault: { plugin: estimator.name, message: faultText(thrown, estimator.file) },
    };
  }
}
