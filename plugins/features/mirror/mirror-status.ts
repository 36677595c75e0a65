import { isServing } from "../../../core/contract/endpoint.ts";
import type { HistogramView } from "../../../core/contract/histogram.ts";
import type { RouterView } from "../../../core/contract/router-view.ts";
import type { MirrorTally } from "./mirror-tally.ts";

/** One mirror of a rule, as JSON. */
export type MirrorStatus = Readonly<ReturnType<typeof mirrorStatus>>;

/** The mirrors of one rule. */
export function mirrorsOf(mirrors: readonly MirrorTally[], rule: string): readonly MirrorStatus[] {
  return mirrors.filter((mirror) => mirror.rule === rule).map(mirrorStatus);
}

function mirrorStatus(mirror: MirrorTally) {
  const { target, percent, maxInFlight, inFlight, sent, results, skipped, firstBytes, originalFirstBytes } = mirror;
  return {
    target,
    percent,
    maxInFlight,
    inFlight,
    sent,
    results: Object.fromEntries(results),
    skipped: Object.fromEntries(skipped),
    // Pairs of a copy and its request that both got a first byte, and their mean times to it; null without any.
    compared: firstBytes.count,
    meanFirstByteMs: meanMs(firstBytes),
    originalMeanFirstByteMs: meanMs(originalFirstBytes),
  };
}

function meanMs({ sum, count }: HistogramView): number | null {
  return count === 0 ? null : (1000 * sum) / count;
}

/** Mirrors that get no copies; nothing where no replica serves: another warning says that. */
export function mirrorWarnings(mirrors: readonly MirrorTally[], { pool }: RouterView): readonly string[] {
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
