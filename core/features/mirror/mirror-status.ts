import { isServing } from "../../contract/endpoint.ts";
import type { HistogramView } from "../../contract/histogram.ts";
import type { RouterView } from "../../contract/router-view.ts";
import type { MirrorTally } from "./mirror-tally.ts";

/** One mirror of a rule. */
export interface MirrorStatus extends Pick<MirrorTally, "target" | "percent" | "maxInFlight" | "inFlight" | "sent"> {
  /** Copies that have ended, by the class of their status or by how they ended. */
  readonly results: Readonly<Record<string, number>>;
  /** Requests that were to be copied and were not, by reason. */
  readonly skipped: Readonly<Record<string, number>>;
  /** Pairs of a copy and its request that both got a first byte, and their mean times to it; null without any. */
  readonly compared: number;
  readonly meanFirstByteMs: number | null;
  readonly originalMeanFirstByteMs: number | null;
}

/** The mirrors of one rule. */
export function mirrorsOf(mirrors: readonly MirrorTally[], rule: string): readonly MirrorStatus[] {
  return mirrors.filter((mirror) => mirror.rule === rule).map(mirrorStatus);
}

function mirrorStatus(counts: MirrorTally): MirrorStatus {
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

function meanMs({ sum, count }: HistogramView): number | null {
  return count === 0 ? null : (1000 * sum) / count;
}

/** Mirrors that get no copies; nothing where no replica serves, since that matters more. */
export function mirrorWarnings(mirrors: readonly MirrorTally[], { pool }: Pick<RouterView, "pool">): readonly string[] {
  const { endpoints } = pool;
  if (!endpoints.some(isServing)) return [];
  const isServed = (target: string) => endpoints.some(({ isAvailable, models }) => isAvailable && models.has(target));
  return mirrors
    .filter(({ target }) => !isServed(target))
    .map(
      ({ rule, target }) =>
        `No ready replica lists "${target}", to which ${rule} is mirrored: no copies are sent. Load it, or remove the mirror.`,
    );
}
