import type { Named, Profile } from "../active-config.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import { firstTokenMs, uncachedTokens } from "../contract/expected-wait.ts";
import type { LatencyEstimator, LatencyTargets } from "../contract/latency-estimator.ts";
import type { LoadView } from "../contract/load-view.ts";
import type { InferenceRequest } from "../contract/request.ts";
import { ignoresPromise } from "../contract/returned-promise.ts";
import { numberFrom } from "./number-from.ts";
import { faultText, type PluginFaults } from "./plugin-faults.ts";

/** What was expected of one try when it began. */
export interface ExpectedLatency {
  /** In milliseconds; NaN if the request has no known prompt, or the replica's speed is not known yet. */
  readonly firstTokenMs: number;
  /** Of each further token, in milliseconds; NaN if unknown. */
  readonly tokenMs: number;
  /** Undefined if the profile has no estimator. */
  readonly targets: LatencyTargets | undefined;
}

export const NOTHING_EXPECTED: ExpectedLatency = { firstTokenMs: Number.NaN, tokenMs: Number.NaN, targets: undefined };

/** By the profile's estimator; where it has none, or one that throws, the time to the first token by the router's own formula. */
export function expectedLatency(
  { estimator }: Pick<Profile, "estimator">,
  request: InferenceRequest,
  endpoint: Endpoint,
  load: LoadView,
  faults: Pick<PluginFaults, "report">,
): ExpectedLatency {
  if (request.promptTokens === 0) return NOTHING_EXPECTED;
  if (estimator === undefined) return ownExpectation(request, endpoint, load);
  const { plugin } = estimator;
  const targets = targetsBy(estimator, request, faults);
  try {
    const firstTokenMs = numberFrom(plugin.firstTokenMs(request, endpoint, load));
    return { firstTokenMs, tokenMs: numberFrom(plugin.tokenMs(request, endpoint, load)), targets };
  } catch {
    // The decision has recorded it.
    return { ...ownExpectation(request, endpoint, load), targets };
  }
}

function targetsBy(
  { name, file, plugin }: Named<LatencyEstimator>,
  request: InferenceRequest,
  faults: Pick<PluginFaults, "report">,
): LatencyTargets | undefined {
  try {
    return targetsFrom(plugin.targets(request));
  } catch (thrown) {
    faults.report(name, faultText(thrown, file));
    return undefined;
  }
}

function targetsFrom(returned: unknown): LatencyTargets | undefined {
  if (ignoresPromise(returned) || typeof returned !== "object" || returned === null) return undefined;
  const { firstTokenMs, tokenMs } = returned as LatencyTargets;
  return typeof firstTokenMs === "number" && typeof tokenMs === "number" ? (returned as LatencyTargets) : undefined;
}

/** Time to the first token by the router's own formula, in milliseconds. */
export function ownFirstTokenMs(request: InferenceRequest, endpoint: Endpoint, load: LoadView): number {
  return firstTokenMs(request, endpoint, load, uncachedTokens(request, endpoint.slot));
}

function ownExpectation(request: InferenceRequest, endpoint: Endpoint, load: LoadView): ExpectedLatency {
  if (!load.isRateKnown(endpoint.slot)) return NOTHING_EXPECTED;
  return { firstTokenMs: ownFirstTokenMs(request, endpoint, load), tokenMs: Number.NaN, targets: undefined };
}
