import type { Named } from "../../../core/active-config.ts";
import type { Detector, EndpointRecord } from "../../../core/contract/detector.ts";
import type { Log } from "../../../core/contract/log.ts";
import { ignoresPromise } from "../../../core/contract/returned-promise.ts";
import { thrownText } from "../../../core/contract/thrown-text.ts";

/** Why an endpoint should leave the pool. */
export interface Detected {
  readonly reason: string;
  /** Whether the endpoint makes no progress at all, so that the requests there are to be given up. */
  readonly isStuck: boolean;
}

/**
 * Asks the detectors in turn, and returns the first reason that one gives. Those behind it are asked only whether the endpoint is
 * stuck. A detector that throws, or returns no text, gives no reason.
 */
export function detect(
  detectors: readonly Named<Detector>[],
  record: EndpointRecord,
  others: readonly EndpointRecord[],
  log: Log,
): Detected | undefined {
  let first: string | undefined;
  for (const { plugin } of detectors) {
    if (first !== undefined && plugin.cutsWaiting !== true) continue;
    const reason = ask(plugin, record, others, log);
    if (reason !== undefined && plugin.cutsWaiting === true) return { reason: first ?? reason, isStuck: true };
    first ??= reason;
  }
  return first === undefined ? undefined : { reason: first, isStuck: false };
}

function ask(detector: Detector, record: EndpointRecord, others: readonly EndpointRecord[], log: Log): string | undefined {
  try {
    const reason: unknown = detector.detect(record, others);
    if (reason === undefined || typeof reason === "string") return reason;
    ignoresPromise(reason);
    throw new TypeError("It must return a text or undefined, at once");
  } catch (thrown) {
    log.warn("A plugin broke its contract", { method: "detect", fault: thrownText(thrown) });
    return undefined;
  }
}

/** Whether no detector has anything to look at. */
export function isUnremarkable({
  recentFailures,
  missingModelCount,
  malformedCount,
  emptyShare,
  quietMs,
  slowness,
  consecutiveFailures,
}: EndpointRecord): boolean {
  return (
    consecutiveFailures + recentFailures + missingModelCount + malformedCount + (emptyShare || 0) === 0 &&
    quietMs === 0 &&
    Number.isNaN(slowness)
  );
}
