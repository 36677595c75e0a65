import type { Endpoint } from "./endpoint.ts";
import type { ProfilePlugin, Random } from "./profile-plugin.ts";

/**
 * In which order are the candidates tried? The same inputs must give the same order; a picker that takes turns advances in
 * `chosen`.
 *
 * @example
 * create: () => ({
 *   pick: (candidates, totals) =>
 *     [...candidates.keys()].sort((a, b) => totals[b]! - totals[a]!).map((index) => candidates[index]!),
 * })
 */
export interface Picker extends ProfilePlugin {
  /** Best first; the rest are spares for a retry. No endpoint twice; never empty for a non-empty list. */
  pick(candidates: readonly Endpoint[], totals: ArrayLike<number>, random: Random): readonly Endpoint[];
}
