import type { Decision } from "../decision.ts";
import type { LoadView } from "../load-view.ts";
import type { Random } from "../profile-plugin.ts";
import type { InferenceRequest } from "../request.ts";
import type { RequestRun } from "./request-run.ts";

/**
 * What would another profile decide? Called instead of the first decision about a request: it returns what `compared.decide` gives for
 * the router's own profile, and may decide by another one beside it. Nothing follows from that. At most one feature does.
 *
 * It is a slot of its own, with one feature that comes with the router, because only in place of the first decision are the facts, the load
 * and the random numbers those of that decision: once the request is booked they are others.
 *
 * @example
 * compare: (_run, compared) => compared.decide(compared.profile, compared.random)
 */
export interface CompareSlot {
  compare?(run: RequestRun, compared: Compared): Decision;
}

/** One request that is decided by more than one profile on the same facts. */
export interface Compared {
  readonly request: InferenceRequest;
  readonly load: LoadView;
  /** The router's own. */
  readonly profile: ComparedProfile;
  readonly random: Random;
  decide(profile: ComparedProfile, random: Random): Decision;
}

interface ComparedProfile {
  readonly name: string;
}
