import type { Availability, Intent, Reported } from "../contract/endpoint.ts";
import type { EjectionStanding } from "../judge.ts";
import type { HealthPhase } from "./readiness/replica-health.ts";

/** What operators want of an endpoint. */
export interface IntentStanding {
  readonly intent: Intent;
  /** It drains, and requests of sessions on it still go there. */
  readonly isInGrace: boolean;
}

/** Everything that decides whether an endpoint may be used. */
export interface Standing extends EjectionStanding, IntentStanding {
  /** The result of the probes. */
  readonly health: HealthPhase;
  /** What its discovery says. */
  readonly reported?: Reported | undefined;
}

/**
 * Decides whether an endpoint may be used; nothing else decides this. The phase names the first reason in this order: it is leaving,
 * health, the operator's intent, ejection. A replica that leaves fails its probes sooner or later, and that is no news. Ejection comes
 * last because it ends by itself.
 */
export function availability(standing: Standing): Availability {
  const { health, reported, intent, isInGrace, ejection, isOnTrial, isNeeded, warmUp: share } = standing;
  const out = { isAvailable: false, stillTakes: "nothing", share, intent, ejection, isOnTrial } as const;
  if (reported === "leaving") return { ...out, phase: "draining" };
  if (health !== "ready") return { ...out, phase: health };
  if (reported === "not-ready") return { ...out, phase: "not-ready" };
  const isTrusted = ejection === undefined || isOnTrial || isNeeded;
  if (intent === "drain") return { ...out, phase: "draining", stillTakes: isInGrace && isTrusted ? "sessions" : "nothing" };
  if (intent === "cordon") return { ...out, phase: "cordoned", stillTakes: isTrusted ? "unserved" : "nothing" };
  if (ejection !== undefined) return { ...out, phase: "ejected", isAvailable: isTrusted };
  return { ...out, phase: "ready", isAvailable: true };
}
