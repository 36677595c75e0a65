import type { Endpoint, Intent } from "../contract/endpoint.ts";
import type { EjectionStanding } from "../features/judge.ts";
import type { HealthPhase } from "./readiness/replica-health.ts";

/** Everything that decides whether an endpoint may be used. */
export interface Standing extends EjectionStanding {
  /** The result of the probes. */
  readonly health: HealthPhase;
  readonly intent: Intent;
  /** It drains, and requests of sessions on it still go there. */
  readonly isInGrace: boolean;
}

/** The fields of an endpoint that show its standing. */
type Shown = Pick<Endpoint, "phase" | "isAvailable" | "stillTakes" | "share" | "intent" | "ejection" | "isOnTrial">;

/**
 * Decides whether an endpoint may be used; nothing else decides this. The phase names the first reason in this order: health,
 * the operator's intent, ejection. Ejection comes last because it ends by itself.
 */
export function availability(standing: Standing): Shown {
  const { health, intent, isInGrace, ejection, isOnTrial, isNeeded, warmUp: share } = standing;
  const out = { isAvailable: false, stillTakes: "nothing", share, intent, ejection, isOnTrial } as const;
  if (health !== "ready") return { ...out, phase: health };
  const isTrusted = ejection === undefined || isOnTrial || isNeeded;
  if (intent === "drain") return { ...out, phase: "draining", stillTakes: isInGrace && isTrusted ? "sessions" : "nothing" };
  if (intent === "cordon") return { ...out, phase: "cordoned", stillTakes: isTrusted ? "unserved" : "nothing" };
  if (ejection !== undefined) return { ...out, phase: "ejected", isAvailable: isTrusted };
  return { ...out, phase: "ready", isAvailable: true };
}
