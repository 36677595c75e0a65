import type { Decision } from "../decision.ts";
import type { Endpoint } from "../endpoint.ts";
import type { LoadView } from "../load-view.ts";
import type { InferenceRequest } from "../request.ts";

/**
 * Which endpoints take part in serving a request? Called to decide about it, also for a dry run: it returns what `planned.decide` gives,
 * perhaps with the legs of further decisions behind its own, which the slot `send` knows how to send. At most one feature is asked.
 *
 * @example
 * plan: (planned) => planned.decide(planned.profile)
 */
export interface PlanSlot {
  plan?(planned: Planned): Decision;
  /** Whether the endpoint may generate answers; all may, where it is left out. One that may not stands in for none that does. */
  mayAnswer?(endpoint: Endpoint): boolean;
}

/** One request that is decided about. */
export interface Planned {
  readonly request: InferenceRequest;
  readonly load: LoadView;
  /** The router's own. */
  readonly profile: PlannedProfile;
  /** By a profile of the config. `peer`: who works on the request with the one that is chosen. */
  decide(profile: PlannedProfile, peer?: Endpoint): Decision;
}

interface PlannedProfile {
  readonly name: string;
}
