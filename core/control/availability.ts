import type { Ejection, Endpoint, Intent, Phase } from "../contract/endpoint.ts";
import type { HealthPhase } from "./readiness/replica-health.ts";

/** Everything that decides whether an endpoint may be used. */
export interface Standing {
  /** The result of the probes. */
  readonly health: HealthPhase;
  readonly intent: Intent;
  readonly ejection: Ejection | undefined;
  /** Its ejection is over if the next request succeeds; false while that one is under way. */
  readonly isOnTrial: boolean;
  /** So many endpoints are ejected that this one is used all the same. */
  readonly isNeeded: boolean;
  /** How warm it is, in (0, 1]; 1 = fully. */
  readonly warmUp: number;
}

export interface Availability {
  readonly phase: Phase;
  /** Whether it may get new requests. */
  readonly isAvailable: boolean;
  /** The part of an equal share of the traffic that it should get, in (0, 1]. */
  readonly share: number;
}

/**
 * Decides whether an endpoint may be used; nothing else decides this. The phase names the first reason in this order: health,
 * the operator's intent, ejection. Ejection comes last because it ends by itself.
 */
export function availability({ health, intent, ejection, isOnTrial, isNeeded, warmUp }: Standing): Availability {
  if (health !== "ready") return { phase: health, isAvailable: false, share: warmUp };
  if (intent !== "serve") return { phase: "draining", isAvailable: false, share: warmUp };
  if (ejection !== undefined) return { phase: "ejected", isAvailable: isOnTrial || isNeeded, share: warmUp };
  return { phase: "ready", isAvailable: true, share: warmUp };
}

/** No intent, ejection or warm-up: only the probes decide. */
export const UNTOUCHED: Omit<Standing, "health"> = {
  intent: "serve",
  ejection: undefined,
  isOnTrial: false,
  isNeeded: false,
  warmUp: 1,
};

/** The fields of an endpoint that show its standing. */
export function shownStanding(
  health: HealthPhase,
  others: Omit<Standing, "health"> = UNTOUCHED,
): Pick<Endpoint, keyof Availability | "intent" | "ejection" | "isOnTrial"> {
  const { intent, ejection, isOnTrial } = others;
  return { ...availability({ ...others, health }), intent, ejection, isOnTrial };
}
