import { definePicker } from "../../core/contract/plugin.ts";
import type { Random } from "../../core/contract/profile-plugin.ts";
import { descendingOrder } from "./descending-order.ts";

/**
 * Weighted sampling without replacement (Efraimidis and Spirakis, A-Res): order by descending U^(1/total), U uniform in (0, 1].
 * Each place goes to one of the remaining candidates with a probability in proportion to its total. The key is the logarithm,
 * because the power would be 0 for all small totals.
 */
export default definePicker({
  type: "weighted-random",
  summary: "Picks at random in proportion to the totals.",
  create: () => ({
    pick(candidates, totals, random) {
      const keys = candidates.map((_, index) => sampleKey(totals[index]!, random));
      return descendingOrder(candidates, keys, random);
    },
  }),
});

function sampleKey(total: number, random: Random): number {
  return total > 0 ? Math.log(1 - random()) / total : Number.NEGATIVE_INFINITY;
}
