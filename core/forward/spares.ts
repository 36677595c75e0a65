import type { Leg } from "../contract/decision.ts";
import { type Endpoint, isServing } from "../contract/endpoint.ts";
import { firstTokenMs } from "../contract/expected-wait.ts";
import type { InferenceRequest } from "../contract/request.ts";
import type { Pool } from "../pool/pool.ts";

/** What is tried of a leg. */
export type Tried = Pick<Leg, "order" | "spares">;

const NONE: readonly never[] = [];

/**
 * The leg's spares that may be used now. Those come first that are expected to answer soonest, and last those that have asked to be left
 * alone.
 */
export function usableSpares(
  { spares = NONE }: Tried,
  request: InferenceRequest,
  pool: Pool,
  nowMs: number,
): readonly Endpoint[] {
  if (spares.length === 0) return NONE;
  const load = pool.load.at(nowMs);
  const { endpoints } = pool.facts;
  const waitMs = new Map<Endpoint, number>();
  for (const { slot, generation } of spares) {
    const now = endpoints.find((each) => each.slot === slot && each.generation === generation);
    // One request tries an endpoint that was ejected, and its decision sends it there.
    if (now === undefined || !isServing(now) || now.isOnTrial) continue;
    waitMs.set(now, load.isPaused(slot) ? Number.POSITIVE_INFINITY : firstTokenMs(request, now, load));
  }
  return [...waitMs.keys()].sort((one, other) => compare(waitMs.get(one)!, waitMs.get(other)!));
}

/** Infinity is equal to itself. */
const compare = (one: number, other: number) => (one === other ? 0 : one - other);
