import type { Endpoint } from "../contract/endpoint.ts";
import type { RouterView } from "../contract/router-view.ts";
import type { OperatorIntent } from "../control/intents.ts";
import { ejectionText, known } from "../report/choice-report.ts";
import type { EndpointStatus, IntentStatus } from "./api/endpoint-schema.ts";
import type { ShownRouter } from "./router-view.ts";

/** What the status of an endpoint reads of a router. */
export interface ShownPool {
  readonly pool: Pick<ShownRouter["pool"], "figures" | "leftOpenAt">;
  readonly control: Pick<ShownRouter["control"], "intents" | "timesOf">;
}

/** One endpoint as the status shows it. */
export function endpointStatus(
  endpoint: Endpoint,
  view: Pick<RouterView, "clock" | "pool">,
  { pool, control }: ShownPool,
): EndpointStatus {
  const { name, slot, url, phase, isAvailable, labels, models } = endpoint;
  const { clock } = view;
  const { load } = view.pool;
  const nowMs = clock.now();
  const { phaseSinceMs, lastCheckMs, nextCheckMs } = control.timesOf(endpoint);
  // An endpoint that has left for a moment is counted anew, but its old streams still run there.
  const leftOpen = pool.leftOpenAt(endpoint);
  const inFlight = load.inFlight(slot) + leftOpen;
  const intent = intentStatus(endpoint, inFlight, control.intents.of(name));
  const ejected = endpoint.ejection === undefined ? "" : ejectionText(endpoint.ejection, nowMs);
  const failure = view.pool.probeFailure(endpoint);
  return {
    name,
    url: url.href,
    phase,
    since: Number.isNaN(phaseSinceMs) ? null : isoTime(clock.wall() - (nowMs - phaseSinceMs)),
    why: whyOf(endpoint, { ejected, failure, intent }),
    isAvailable,
    ejected,
    intent,
    ejections: view.pool.ejectionsOf(endpoint),
    share: endpoint.share,
    failure,
    lastCheckAgoMs: known(Math.round(nowMs - lastCheckMs)),
    nextCheckInMs: known(Math.max(0, Math.round(nextCheckMs - nowMs))),
    labels,
    models: [...models],
    inFlight,
    prefillTokens: load.prefillTokens(slot),
    connections: view.pool.connectionsTo(endpoint) + leftOpen,
    waiting: known(load.waiting(slot)),
    running: known(load.running(slot)),
    kvUsage: known(load.kvUsage(slot)),
    attributes: Object.fromEntries(load.attributes(slot)),
    scrapedAgoMs: known(Math.round(nowMs - load.scrapedAtMs(slot))),
    freshness: load.freshness(slot),
    figures: pool.figures.of(endpoint),
  };
}

export const isoTime = (wallMs: number) => new Date(wallMs).toISOString();

/** Why it is in its phase, in words; "" where there is nothing to explain. */
function whyOf(
  { phase, share, reported }: Endpoint,
  { ejected, failure, intent }: Pick<EndpointStatus, "ejected" | "failure" | "intent">,
): string {
  if (reported === "leaving") return "it is being taken away: requests under way finish";
  switch (phase) {
    case "starting":
      return failure === "" ? "no probe has ended yet" : `not up yet: the last probe got ${failure}`;
    case "not-ready":
      if (failure !== "") return `the last probe got ${failure}`;
      return reported === "not-ready" ? "its probes succeed, but its discovery says that it is not ready" : "its probes fail";
    case "asleep":
      return "its engine sleeps; it gets requests once it is woken";
    case "draining":
    case "cordoned":
      return intentText(phase, intent);
    case "ejected":
      return ejected;
    case "ready":
      if (failure !== "") return `still in service, but the last probe got ${failure}`;
      return share < 1 ? `warming up: it gets ${Math.round(share * 100)} % of its share` : "";
  }
}

function intentText(phase: "draining" | "cordoned", intent: IntentStatus | null): string {
  if (intent === null) return "";
  const who = intent.by === "" ? "the operator" : intent.by;
  const state = intent.isEmpty ? "empty, so it can be taken away" : "requests are under way";
  const text = phase === "draining" ? `drained by ${who}; ${state}` : `cordoned by ${who}: only what no other replica serves`;
  const ends = intent.until === null ? "" : `; ends at ${intent.until}`;
  return intent.reason === "" ? `${text}${ends}` : `${text}${ends}: ${intent.reason}`;
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
