import { definePicker } from "../../core/contract/plugin.ts";
import { descendingOrder } from "./descending-order.ts";

export default definePicker({
  type: "random",
  summary: "Picks at random, regardless of the totals.",
  create: () => ({
    pick(candidates, _totals, random) {
      const allEqual = candidates.map(() => 0);
      return descendingOrder(candidates, allEqual, random);
    },
  }),
});
