import type { LatencyTargets } from "../../core/contract/latency-estimator.ts";

export interface ScoringOptions {
  readonly ttftWeight: number;
  readonly tpotWeight: number;
  readonly headroomSelectionStrategy: "least" | "most";
  readonly sloBufferFactor: number;
}

/**
 * The score of an endpoint by its late times (those that 9 of 10 requests stay below) as parts of the targets, and by the part of
 * the prompt that is not cached there, each from 0. `use` = such a part / sloBufferFactor; headroom = weighted mean of 1 - use.
 * Targets met, least: 1 - (headroom + uncached) / 4: the busiest that is fast enough, and that does not compute again what another
 * one holds. Targets met, most: 1/2 + headroom / 2. Not met: 1/2 / (1 + weighted mean of what exceeds 1).
 */
export function targetScore(
  ttftPart: number,
  tpotPart: number,
  uncached: number,
  targets: LatencyTargets,
  options: ScoringOptions,
): number {
  const ttftUse = ttftPart / options.sloBufferFactor;
  const tpotUse = tpotPart / options.sloBufferFactor;
  const share = ttftShare(targets, options);
  if (ttftUse <= 1 && tpotUse <= 1) {
    const headroom = 1 - share * ttftUse - (1 - share) * tpotUse;
    if (options.headroomSelectionStrategy === "most") return bounded((1 + headroom) / 2);
    return bounded(1 - (headroom + Math.min(1, uncached)) / 4);
  }
  const excess = part(share, Math.max(0, ttftUse - 1)) + part(1 - share, Math.max(0, tpotUse - 1));
  return Math.min(BELOW_HALF, 0.5 / (1 + excess));
}

/** The largest score of an endpoint that does not meet the targets. */
const BELOW_HALF = 0.4999;

/** 0 x Infinity is 0 here. */
const part = (weight: number, value: number) => (weight === 0 ? 0 : weight * value);

const bounded = (score: number) => Math.min(1, Math.max(0.5, score));

/** How much the time to the first token counts beside the time per token, in [0, 1]: a target that there is not counts nothing. */
function ttftShare({ firstTokenMs, tokenMs }: LatencyTargets, { ttftWeight, tpotWeight }: ScoringOptions): number {
  if (tokenMs === Number.POSITIVE_INFINITY) return 1;
  if (firstTokenMs === Number.POSITIVE_INFINITY) return 0;
  return ttftWeight + tpotWeight === 0 ? 0.5 : ttftWeight / (ttftWeight + tpotWeight);
}
