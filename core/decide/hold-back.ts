import type { Dropped } from "../contract/decision.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { LoadView } from "../contract/load-view.ts";
import type { Random } from "../contract/profile-plugin.ts";

export interface HeldBack {
  readonly candidates: readonly Endpoint[];
  /** The candidate on trial, which gets this request first, whatever its score. The others are tried if it fails. */
  readonly trial: Endpoint | undefined;
  /** Which endpoints are held back, and why. */
  readonly dropped: readonly Dropped[];
  /** Those of them that may be tried when the others fail. */
  readonly spares: readonly Endpoint[];
}

const NONE: readonly never[] = [];

/**
 * Gives less than a whole share to endpoints that are not fit for it. The first one on trial gets this request. One that asked to be left
 * alone, or has no room (where requests wait for room), gets none while others are left. One that warms up gets a part of an equal share.
 * At least one endpoint always stays.
 */
export function holdBack(candidates: readonly Endpoint[], load: LoadView, random: Random): HeldBack {
  if (areAllWhole(candidates, load)) return { candidates, trial: undefined, dropped: NONE, spares: NONE };
  const trial = candidates.find(({ isOnTrial, slot }) => isOnTrial && !load.isPaused(slot));
  const dropped: Dropped[] = [];
  const spares: Endpoint[] = [];
  // The one on trial says nothing of the others, which must be there if it fails.
  let kept = trial === undefined ? candidates : candidates.filter((endpoint) => endpoint !== trial);
  const spare = (reason: string, isSpared: (endpoint: Endpoint) => boolean, mayBeTried = false) => {
    const { left, lost } = without(kept, isSpared);
    if (left.length === 0 || lost.length === 0) return;
    kept = left;
    dropped.push({ filter: reason, endpoints: lost });
    if (mayBeTried) spares.push(...lost);
  };
  spare("on trial", ({ isOnTrial }) => isOnTrial);
  spare("asked to be left alone", ({ slot }) => load.isPaused(slot), true);
  spare("full", ({ slot }) => load.isFull(slot));
  const largest = kept.reduce((most, { share }) => Math.max(most, share), 0);
  spare("warming up", ({ share }) => share < largest && random() >= share / largest, true);
  return { candidates: trialFirst(trial, kept), trial, dropped, spares };
}

/** The order in which the endpoints are tried: the picker's, behind the one on trial. */
export function trialFirst(trial: Endpoint | undefined, order: readonly Endpoint[]): readonly Endpoint[] {
  return trial === undefined ? order : [trial, ...order.filter((endpoint) => endpoint !== trial)];
}

/** A loop, because a closure made for each request costs more than what it looks at. */
function areAllWhole(candidates: readonly Endpoint[], load: LoadView): boolean {
  for (const { isOnTrial, share, slot } of candidates)
    if (isOnTrial || share !== 1 || load.isPaused(slot) || load.isFull(slot)) return false;
  return true;
}

function without(endpoints: readonly Endpoint[], isLost: (endpoint: Endpoint) => boolean) {
  const left: Endpoint[] = [];
  const lost: Endpoint[] = [];
  for (const endpoint of endpoints) (isLost(endpoint) ? lost : left).push(endpoint);
  return { left, lost };
}
