import { isServing } from "../../contract/endpoint.ts";
import type { HistogramView } from "../../contract/histogram.ts";
import type { MirrorCounts } from "../../contract/mirror.ts";
import type { RouterView } from "../../contract/router-view.ts";

/** One mirror of a rule. */
export interface MirrorStatus extends Pick<MirrorCounts, "target" | "percent" | "maxInFlight" | "inFlight" | "sent"> {
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
export function mirrorsOf({ mirrors }: RouterView["features"], rule: string): readonly MirrorStatus[] {
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

function meanMs({ sum, count }: HistogramView): number | null {
  return count === 0 ? null : (1000 * sum) / count;
}

/** Mirrors that get no copies; nothing where no replica serves: another warning says that. */
export function mirrorWarnings({ view }: { readonly view: Pick<RouterView, "features" | "pool"> }): readonly string[] {
  const { endpoints } = view.pool;
  if (!endpoints.some(isServing)) return [];
  const isServed = (target: string) => endpoints.some(({ isAvailable, models }) => isAvailable && models.has(target));
  return view.features.mirrors
    .filter(({ target }) => !isServed(target))
    .map(
      ({ rule, target }) =>
        `No ready replica lists "${target}", to which ${rule} is mirrored: no copies are sent. Load it, or remove the mirror.`,
    );
}
