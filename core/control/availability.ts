import type { Endpoint, Intent, Phase, StillTakes } from "../contract/endpoint.ts";
import { type EjectionStanding, NOTHING } from "../features/judge.ts";
import type { HealthPhase } from "./readiness/replica-health.ts";

/** Everything that decides whether an endpoint may be used. */
export interface Standing extends EjectionStanding {
  /** The result of the probes. */
  readonly health: HealthPhase;
  readonly intent: Intent;
  /** It drains, and requests of sessions on it still go there. */
  readonly isInGrace: boolean;
}

export interface Availability {
  readonly phase: Phase;
  /** Whether it may get new requests. */
  readonly isAvailable: boolean;
  /** Which new requests it gets although it is not available. */
  readonly stillTakes: StillTakes;
  /** The part of an equal share of the traffic that it should get, in (0, 1]. */
  readonly share: number;
}

/**
 * Decides whether an endpoint may be used; nothing else decides this. The phase names the first reason in this order: health,
 * the operator's intent, ejection. Ejection comes last because it ends by itself.
 */
export function availability(standing: Standing): Availability {
  const { health, intent, isInGrace, ejection, isOnTrial, isNeeded, warmUp: share } = standing;
  const out = { isAvailable: false, stillTakes: "nothing", share } as const;
  if (health !== "ready") return { ...out, phase: health };
  const isTrusted = ejection === undefined || isOnTrial || isNeeded;
  if (intent === "drain") return { ...out, phase: "draining", stillTakes: isInGrace && isTrusted ? "sessions" : "nothing" };
  if (intent === "cordon") return { ...out, phase: "cordoned", stillTakes: isTrusted ? "unserved" : "nothing" };
  if (ejection !== undefined) return { ...out, phase: "ejected", isAvailable: isTrusted };
  return { ...out, phase: "ready", isAvailable: true };
}

/** No intent, ejection or warm-up: only the probes decide. */
export const UNTOUCHED: Omit<Standing, "health"> = {
  ...NOTHING,
  intent: "serve",
  isInGrace: false,
};

/** The fields of an endpoint that show its standing. */
export function shownStanding(
  health: HealthPhase,
  others: Omit<Standing, "health"> = UNTOUCHED,
): Pick<Endpoint, keyof Availability | "intent" | "ejection" | "isOnTrial"> {
  const { intent, ejection, isOnTrial } = others;
  return { ...availability({ ...others, health }), intent, ejection, isOnTrial };
}
