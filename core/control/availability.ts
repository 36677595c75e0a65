import type { Ejection, Endpoint, Intent, Phase } from "../contract/endpoint.ts";
import type { HealthPhase } from "./readiness/reducer.ts";

/** All that decides whether an endpoint may be used. */
export interface Standing {
  /** The probes' verdict. */
  readonly health: HealthPhase;
  readonly intent: Intent;
  readonly ejection: Ejection | undefined;
  /** Its ejection is over if one request succeeds. */
  readonly isOnTrial: boolean;
  /** How far it is warmed up, in (0, 1]. */
  readonly warmUp: number;
}

export interface Availability {
  readonly phase: Phase;
  /** Whether it may get new requests. */
  readonly isAvailable: boolean;
  /** Of an equal share of the traffic, how much it should get, in (0, 1]. */
  readonly share: number;
}

/**
 * May it be used? The one place that knows. An endpoint that is not healthy says so first: what the operator or an ejection
 * adds to that changes nothing. The operator comes before an ejection, which ends by itself.
 */
export function availability({ health, intent, ejection, isOnTrial, warmUp }: Standing): Availability {
  if (health !== "ready") return { phase: health, isAvailable: false, share: warmUp };
  if (intent !== "serve") return { phase: "draining", isAvailable: false, share: warmUp };
  if (ejection !== undefined) return { phase: "ejected", isAvailable: isOnTrial, share: warmUp };
  return { phase: "ready", isAvailable: true, share: warmUp };
}

/** Nothing but the probes has a say. */
export const UNTOUCHED: Omit<Standing, "health"> = { intent: "serve", ejection: undefined, isOnTrial: false, warmUp: 1 };

/** The fields of an endpoint that tell its standing. */
export function shownStanding(
  health: HealthPhase,
  others: Omit<Standing, "health"> = UNTOUCHED,
): Pick<Endpoint, keyof Availability | "intent" | "ejection" | "isOnTrial"> {
  const { intent, ejection, isOnTrial } = others;
  return { ...availability({ ...others, health }), intent, ejection, isOnTrial };
}
