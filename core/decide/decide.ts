import type { Profile } from "../active-config.ts";
import type { Decision } from "../contract/decision.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { LoadView } from "../contract/load-view.ts";
import type { Random } from "../contract/profile-plugin.ts";
import type { InferenceRequest } from "../contract/request.ts";
import type { Facts } from "../state/facts.ts";
import { estimate } from "./estimate.ts";
import { filter } from "./filter.ts";
import { holdBack, trialFirst } from "./hold-back.ts";
import { pick } from "./pick.ts";
import { NOT_SCORED, score } from "./score.ts";

/**
 * Chooses endpoints and records why: filter, hold back, score, pick. The same inputs always give the same decision; the simulation
 * and dry runs call this function too. Throws RouterError (plugin_fault) where a filter or the picker breaks its contract.
 */
export function decide(request: InferenceRequest, facts: Facts, profile: Profile, load: LoadView, random: Random): Decision {
  // A copy, because observers and a filter's `refuse` are handed this list, and the next decision reads the facts' own.
  const endpoints = facts.endpoints.slice();
  const filtered = filter(request, profile.filters, endpoints, load, random, profile.clientModels);
  const { refusal } = filtered;
  const { candidates, trial, dropped: heldBack, spares } = holdBack(filtered.candidates, load, random);
  const scored = refusal === undefined ? score(request, profile.scorers, candidates, load) : NOT_SCORED;
  const { columns, totals } = scored;
  const { picker } = profile;
  const first = trial ?? (request.placedAt! >= 0 ? candidates.find(({ slot }) => slot === request.placedAt) : undefined);
  const order = refusal === undefined ? trialFirst(first, pick(picker, candidates, totals, random)) : [];
  return {
    requestId: request.id,
    atMs: load.nowMs,
    model: request.model,
    target: request.target,
    rule: request.rule,
    draw: request.draw,
    endpoints,
    legs: [
      {
        profile: profile.name,
        dropped: heldBack.length === 0 ? filtered.dropped : [...filtered.dropped, ...heldBack],
        candidates,
        scores: columns,
        totals,
        picker: picker.name,
        pickerType: picker.type,
        order,
        spares: sparesOf(filtered.spares, spares, candidates, order),
        isPlaced: trial === undefined && first !== undefined,
        estimates: estimate(request, order, load),
      },
    ],
    refusal,
    faults: scored.faults,
  };
}

const NONE: readonly never[] = [];

/** What filters' wishes dropped, what is held back, and what the picker left out. */
function sparesOf(
  unwished: readonly Endpoint[],
  heldBack: readonly Endpoint[],
  candidates: readonly Endpoint[],
  order: readonly Endpoint[],
): readonly Endpoint[] {
  if (order.length === 0) return NONE;
  const isWhole = order.length >= candidates.length;
  if (isWhole && unwished.length + heldBack.length === 0) return NONE;
  const unpicked = isWhole ? NONE : candidates.filter((endpoint) => !order.includes(endpoint));
  return [...unpicked, ...unwished, ...heldBack];
}
