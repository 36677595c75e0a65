import type { ShadowTally } from "./shadow-tally.ts";

export type ShadowStatus = Readonly<NonNullable<ReturnType<typeof shadowStatus>>>;

/** The second profile, and how it differs, as JSON; null without one. */
export function shadowStatus(shadow: ShadowTally | undefined) {
  if (shadow === undefined) return null;
  const { profile: name, percent, decisions, disagreements, refusals, addedMs, savedMs, faults, skipped } = shadow;
  const compared = decisions - refusals;
  return {
    name,
    percent,
    decisions,
    disagreements,
    // Of its decisions, how many differ, in [0, 1]; null before the first.
    disagreementShare: decisions === 0 ? null : disagreements / decisions,
    refusals,
    // How much longer its choices are expected to take to the first token, over all its decisions; below 0 for less.
    meanDifferenceMs: compared === 0 ? null : (addedMs - savedMs) / compared,
    faults,
    skipped,
  };
}
