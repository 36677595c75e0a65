import type { Distribution, MirrorCounts } from "../contract/mirror.ts";
import type { RouterView } from "../contract/router-view.ts";

/** One mirror of a rule. */
export interface MirrorStatus {
  readonly target: string;
  /** Of the rule's requests, how many are copied. */
  readonly percent: number;
  readonly maxInFlight: number;
  readonly inFlight: number;
  readonly sent: number;
  /** Copies that have ended, by the class of their status or by how they ended. */
  readonly results: Readonly<Record<string, number>>;
  /** Requests that were to be copied and were not, by reason. */
  readonly skipped: Readonly<Record<string, number>>;
  /** Pairs of a copy and its request that both got a first byte, and their mean times to it; null without any. */
  readonly compared: number;
  readonly meanFirstByteMs: number | null;
  readonly originalMeanFirstByteMs: number | null;
}

/** The second profile, and how it differs. */
export interface ShadowStatus {
  readonly name: string;
  readonly percent: number;
  readonly decisions: number;
  readonly disagreements: number;
  /** Of its decisions, how many differ, in [0, 1]; null before the first. */
  readonly disagreementShare: number | null;
  /** Decisions in which only one of the two profiles refuses. */
  readonly refusals: number;
  /** How much longer its choices are expected to take to the first token, over all its decisions; below 0 for less. */
  readonly meanDifferenceMs: number | null;
  readonly faults: number;
  readonly skipped: number;
}

/** The mirrors of one rule. */
export function mirrorsOf({ mirrors }: Pick<RouterView, "mirrors">, rule: string): readonly MirrorStatus[] {
  return mirrors.filter((mirror) => mirror.rule === rule).map(mirrorStatus);
}

function mirrorStatus(counts: MirrorCounts): MirrorStatus {
  const { target, percent, maxInFlight, inFlight, sent, results, skipped, firstBytes, originalFirstBytes } = counts;
  return {
    target,
    percent,
    maxInFlight,
    inFlight,
    sent,
    results: Object.fromEntries(results),
    skipped: Object.fromEntries(skipped),
    compared: firstBytes.count,
    meanFirstByteMs: meanMs(firstBytes),
    originalMeanFirstByteMs: meanMs(originalFirstBytes),
  };
}

function meanMs({ sum, count }: Distribution): number | null {
  return count === 0 ? null : (1000 * sum) / count;
}

export function shadowStatus({ shadow }: Pick<RouterView, "shadow">): ShadowStatus | null {
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

/** What needs an operator's attention, as sentences. */
export function mirrorWarnings({ mirrors, endpoints }: Pick<RouterView, "mirrors" | "endpoints">): readonly string[] {
  const isServed = (target: string) => endpoints.some(({ isAvailable, models }) => isAvailable && models.has(target));
  return mirrors
    .filter(({ target }) => !isServed(target))
    .map(
      ({ rule, target }) =>
        `No ready replica lists "${target}", to which ${rule} is mirrored: no copies are sent. Load it, or remove the mirror.`,
    );
}
