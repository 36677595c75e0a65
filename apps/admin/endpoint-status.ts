import type { Endpoint } from "../../core/contract/endpoint.ts";
import type { OperatorIntent } from "../../core/pool/operator-intents.ts";
import { ejectionCause, ejectionText, known } from "../../core/report/choice-report.ts";
import type { EndpointStatus, IntentStatus } from "./endpoint-schema.ts";
import type { ViewedSite } from "./site.ts";

/** One endpoint as the status shows it. */
export function endpointStatus(endpoint: Endpoint, { router: { pool, control }, clock, figures }: ViewedSite): EndpointStatus {
  const { name, slot, url, phase, isAvailable, labels, models } = endpoint;
  const nowMs = clock.now();
  const load = pool.load.at(nowMs);
  const { phaseSinceMs, lastCheckMs, nextCheckMs } = control.timesOf(endpoint);
  // An endpoint that has left for a moment is counted anew, but its old streams still run there.
  const leftOpen = pool.connections.leftOpenAt(endpoint);
  const inFlight = load.inFlight(slot) + leftOpen;
  const intent = intentStatus(endpoint, inFlight, control.intents.of(name));
  const ejected = endpoint.ejection === undefined ? "" : ejectionText(endpoint.ejection, nowMs);
  const failure = control.probeFailure(endpoint);
  const why = whyOf(endpoint, failure, intent, nowMs);
  return {
    name,
    url: url.href,
    phase,
    since: Number.isNaN(phaseSinceMs) ? null : isoTime(clock.wall() - (nowMs - phaseSinceMs)),
    why,
    state: phase === "ejected" && ejected !== "" ? ejected : why === "" ? phase : `${phase}: ${why}`,
    isAvailable,
    ejected,
    intent,
    ejections: control.judge.countOf(endpoint),
    share: endpoint.share,
    failure,
    lastCheckAgoMs: known(Math.round(nowMs - lastCheckMs)),
    nextCheckInMs: known(Math.max(0, Math.round(nextCheckMs - nowMs))),
    labels,
    models: [...models],
    inFlight,
    prefillTokens: load.prefillTokens(slot),
    connections: pool.connections.openTo(endpoint) + leftOpen,
    waiting: known(load.waiting(slot)),
    running: known(load.running(slot)),
    kvUsage: known(load.kvUsage(slot)),
    attributes: Object.fromEntries(load.attributes(slot)),
    scrapedAgoMs: known(Math.round(nowMs - load.scrapedAtMs(slot))),
    freshness: load.freshness(slot),
    figures: figures.of(endpoint),
  };
}

export const isoTime = (wallMs: number) => new Date(wallMs).toISOString();

/**
 * Why it is in its phase, in words; "" where there is nothing to explain. It stands behind the phase and does not repeat its word, and
 * the cause comes first, because tables cut what is long.
 */
function whyOf(
  { phase, share, reported, ejection }: Endpoint,
  failure: string,
  intent: IntentStatus | null,
  nowMs: number,
): string {
  if (reported === "leaving") return "it is being taken away; requests under way finish";
  const probe = failure === "" ? "" : `${failure} (its last probe)`;
  switch (phase) {
    case "starting":
      return probe || "no probe has ended yet";
    case "not-ready":
      if (probe === "" && reported === "not-ready") return "its discovery says so, though its probes succeed";
      return probe || "its probes fail";
    case "asleep":
      return "it gets requests once its engine is woken";
    case "draining":
    case "cordoned":
      return intentText(phase, intent);
    case "ejected":
      return ejection === undefined ? "" : ejectionCause(ejection, nowMs);
    case "ready":
      if (probe !== "") return `${probe}, still in service`;
      return share < 1 ? `${Math.round(share * 100)} % of its share, until it has shown that it serves` : "";
  }
}

function intentText(phase: "draining" | "cordoned", intent: IntentStatus | null): string {
  if (intent === null) return "";
  const { reason, by, isEmpty, until } = intent;
  const drained = isEmpty ? "empty, so it can be taken away" : "requests are under way";
  return [
    ...(reason === "" ? [] : [reason]),
    `asked by ${by === "" ? "the operator" : by}`,
    phase === "draining" ? drained : "it gets only what no other replica serves",
    ...(until === null ? [] : [`ends at ${until}`]),
  ].join("; ");
}

function intentStatus({ stillTakes }: Endpoint, inFlight: number, wanted: OperatorIntent | undefined): IntentStatus | null {
  if (wanted === undefined) return null;
  const { intent: kind, reason, by, sinceMs, untilMs } = wanted;
  return {
    kind,
    reason,
    by,
    since: isoTime(sinceMs),
    until: untilMs === undefined ? null : isoTime(untilMs),
    isEmpty: inFlight === 0 && stillTakes === "nothing",
  };
}
