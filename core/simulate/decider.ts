import type { Profile } from "../active-config.ts";
import type { Decision } from "../contract/decision.ts";
import type { LoadView } from "../contract/load-view.ts";
import type { Random } from "../contract/profile-plugin.ts";
import type { InferenceRequest } from "../contract/request.ts";
import { decide } from "../decide/decide.ts";
import type { Facts } from "../state/facts.ts";
import type { TraceRequest } from "./trace.ts";
import type { Upstream } from "./upstream.ts";

/** One request of a trace, and what the router knows when it decides. */
export interface Question {
  readonly request: InferenceRequest;
  readonly traced: TraceRequest;
  readonly facts: Facts;
  readonly profile: Profile;
  readonly load: LoadView;
  readonly random: Random;
}

/** Decides a simulated request. */
export type Decider = (question: Question) => Decision;

/** Makes the decider of one simulation. `upstreams`: the replicas with their exact state, by slot, which no router has. */
export type DeciderOf = (upstreams: readonly Upstream[]) => Decider;

/** As the router does. */
export const decideAsAsked: Decider = ({ request, facts, profile, load, random }) =>
  decide(request, facts, profile, load, random);
