import type { Dropped } from "../contract/decision.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { LoadView } from "../contract/load-view.ts";
import type { Random } from "../contract/profile-plugin.ts";

export interface HeldBack {
  readonly candidates: readonly Endpoint[];
  /** Which endpoints are held back, and why. */
  readonly dropped: readonly Dropped[];
}

/**
 * Spares endpoints that should not get a whole share: one on trial gets a single request and no other meanwhile; one that asked to
 * be left alone gets none while others are left; one that warms up gets a part of an equal share. Endpoints are never held back
 * to the last one.
 */
export function holdBack(candidates: readonly Endpoint[], load: LoadView, random: Random): HeldBack {
  if (candidates.every((endpoint) => isWhole(endpoint, load))) return { candidates, dropped: [] };
  const trial = candidates.find(({ isOnTrial, slot }) => isOnTrial && load.inFlight(slot) === 0);
  if (trial !== undefined && candidates.length > 1) return keepOnly(candidates, [trial], "trial");
  const dropped: Dropped[] = [];
  let kept = candidates;
  const spare = (reason: string, isSpared: (endpoint: Endpoint) => boolean) => {
    const { candidates: left, dropped: lost } = keepOnly(
      kept,
      kept.filter((endpoint) => !isSpared(endpoint)),
      reason,
    );
    kept = left;
    dropped.push(...lost);
  };
  spare("on trial", ({ isOnTrial }) => isOnTrial);
  spare("asked to be left alone", ({ slot }) => load.isPaused(slot));
  const largest = kept.reduce((most, { share }) => Math.max(most, share), 0);
  spare("warming up", ({ share }) => share < largest && random() >= share / largest);
  return { candidates: kept, dropped };
}

function isWhole({ isOnTrial, share, slot }: Endpoint, load: LoadView): boolean {
  return !isOnTrial && share === 1 && !load.isPaused(slot);
}

/** All of them where none would be left. */
function keepOnly(candidates: readonly Endpoint[], kept: readonly Endpoint[], reason: string): HeldBack {
  if (kept.length === 0 || kept.length === candidates.length) return { candidates, dropped: [] };
  return {
    candidates: kept,
    dropped: [{ filter: reason, endpoints: candidates.filter((endpoint) => !kept.includes(endpoint)) }],
  };
}
