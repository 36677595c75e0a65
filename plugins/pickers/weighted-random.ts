import { z } from "../../core/contract/options.ts";
import { definePicker } from "../../core/contract/plugin.ts";
import type { Random } from "../../core/contract/profile-plugin.ts";
import { descendingOrder } from "./descending-order.ts";

/**
 * Weighted sampling without replacement (A-Res): by descending U^(1/total), U uniform, so that each place goes to a
 * candidate with a probability in proportion to its total. The key is kept as a logarithm, where small totals don't all become 0.
 */
export default definePicker({
  type: "weighted-random",
  summary: "Picks at random in proportion to the totals.",
  options: z.strictObject({}),
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
