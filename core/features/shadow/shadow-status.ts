import type { ShadowTally } from "./shadow-tally.ts";

/** The second profile, and how it differs. */
export interface ShadowStatus extends Omit<ShadowTally, "profile" | "addedMs" | "savedMs" | "decided"> {
  readonly name: string;
  /** Of its decisions, how many differ, in [0, 1]; null before the first. */
  readonly disagreementShare: number | null;
  /** How much longer its choices are expected to take to the first token, over all its decisions; below 0 for less. */
  readonly meanDifferenceMs: number | null;
}

export function shadowStatus(shadow: ShadowTally | undefined): ShadowStatus | null {
  if (shadow === undefined) return null;
  const { profile: name, percent, decisions, disagreements, refusals, addedMs, savedMs, faults, skipped } = shadow;
  const compared = decisions - refusals;
  return {
    name,
    percent,
    decisions,
    disagreements,
    disagreementShare: decisions === 0 ? null : disagreements / decisions,
    refusals,
    meanDifferenceMs: compared === 0 ? null : (addedMs - savedMs) / compared,
    faults,
    skipped,
  };
}
