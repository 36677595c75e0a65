import type { Snapshot } from "./active-config.ts";
import type { Decision } from "./contract/decision.ts";
import type { Endpoint } from "./contract/endpoint.ts";
import type { Random } from "./contract/plugin.ts";
import type { InferenceRequest } from "./contract/request.ts";
import type { DataPlane } from "./data-plane.ts";
import type { Incoming } from "./intake/incoming.ts";
import type { ResponseWriter } from "./intake/response-writer.ts";
import { filter } from "./stages/filter.ts";
import { type Ending, Forwarding } from "./stages/forward.ts";
import { parse } from "./stages/parse.ts";
import { pick } from "./stages/pick.ts";
import { rewrite } from "./stages/rewrite.ts";
import { NOT_SCORED, score } from "./stages/score.ts";
import type { Load } from "./state/load.ts";

/** What one request becomes on its way. */
export interface Routed {
  readonly request: InferenceRequest;
  readonly decision: Decision;
  readonly forwarding: Forwarding | undefined;
}

/**
 * parse → filter → score → pick → rewrite → forward. Parse draws the target, rewrite writes it; the caller begins the forwarding
 * once it knows what it was told. Throws RouterError for a request that can't be understood; one that nobody may serve has
 * the refusal in its decision.
 */
export function route(
  incoming: Incoming,
  snapshot: Snapshot,
  plane: DataPlane,
  response: ResponseWriter,
  ended: (ending: Ending) => void,
): Routed {
  const request = parse(incoming, snapshot, plane.prefixIndex, plane.tokenScale);
  plane.load.refresh();
  const decision = decide(request, snapshot, plane.load, plane.random);
  if (decision.refusal !== undefined) return { request, decision, forwarding: undefined };
  const draft = rewrite(request, incoming);
  const openingEvents = incoming.parser.plugin.openingEvents ?? 0;
  const forwarding = new Forwarding({ request, draft, decision, snapshot, openingEvents }, plane, response, ended);
  return { request, decision, forwarding };
}

/** Chooses, and says why. The same inputs always give the same decision; nothing else re-implements it. */
export function decide(request: InferenceRequest, snapshot: Snapshot, load: Load, random: Random): Decision {
  const { profile, endpoints } = snapshot;
  const { candidates, dropped, refusal } = filter(request, profile.filters, endpoints, load);
  const { columns, totals, faults } = refusal === undefined ? score(request, profile.scorers, candidates, load) : NOT_SCORED;
  const order: readonly Endpoint[] = refusal === undefined ? pick(profile.picker, candidates, totals, random) : [];
  return {
    requestId: request.id,
    profile: profile.name,
    model: request.model,
    target: request.target,
    rule: request.rule,
    endpoints,
    dropped,
    candidates,
    scores: columns,
    totals,
    order,
    refusal,
    faults,
  };
}
