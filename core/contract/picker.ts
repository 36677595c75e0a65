import type { Endpoint } from "./endpoint.ts";
import type { ProfilePlugin, Random } from "./profile-plugin.ts";

/**
 * In which order are the candidates tried? The same inputs must give the same order; a picker with state changes it only in
 * `chosen`.
 *
 * @example
 * create: () => ({
 *   pick: (candidates, totals) =>
 *     [...candidates.keys()].sort((a, b) => totals[b]! - totals[a]!).map((index) => candidates[index]!),
 * })
 */
export interface Picker extends ProfilePlugin {
  /** Best first; the rest are spares for retries. No endpoint twice; at least one if there are candidates. */
  pick(candidates: readonly Endpoint[], totals: ArrayLike<number>, random: Random): readonly Endpoint[];
}
