import type { Profile } from "../active-config.ts";
import type { Decision } from "../contract/decision.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { LoadView } from "../contract/load-view.ts";
import type { Random } from "../contract/profile-plugin.ts";
import type { InferenceRequest } from "../contract/request.ts";
import type { Slots } from "../slots.ts";
import type { Facts } from "../state/facts.ts";
import { decide } from "./decide.ts";

/** The decision by this profile, or what the feature that plans requests makes of it. Throws as `decide` does. */
export function plan(
  slots: Slots,
  request: InferenceRequest,
  facts: Facts,
  profile: Profile,
  load: LoadView,
  random: Random,
): Decision {
  const planner = slots.plan[0];
  if (planner === undefined) return decide(request, facts, profile, load, random);
  const by = (other: Profile, peer?: Endpoint) => decide(peer ? { ...request, peer } : request, facts, other, load, random);
  return planner.plugin.plan({ request, load, profile, decide: by });
}
