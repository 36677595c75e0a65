import { definePicker } from "../../core/contract/plugin.ts";
import { descendingOrder } from "./descending-order.ts";

/** Chance keeps several routers that see the same best endpoint from all choosing it. */
export default definePicker({
  type: "power-of-two",
  summary: "Picks the better of two candidates drawn at random.",
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
