import { z } from "../../core/contract/options.ts";
import { definePicker } from "../../core/contract/plugin.ts";
import { descendingOrder } from "./descending-order.ts";

/** Several routers that all see the same best endpoint don't all run to it. */
export default definePicker({
  type: "power-of-two",
  summary: "Picks the better of two candidates drawn at random.",
  options: z.strictObject({}),
  create: () => ({
    pick(candidates, totals, random) {
      const allEqual = candidates.map(() => 0);
      const [first, second, ...rest] = descendingOrder(candidates, allEqual, random);
      if (first === undefined || second === undefined) return candidates;
      const isSecondBetter = totals[candidates.indexOf(second)]! > totals[candidates.indexOf(first)]!;
      return isSecondBetter ? [second, first, ...rest] : [first, second, ...rest];
    },
  }),
});
