import { definePicker } from "../../core/contract/plugin.ts";
import { descendingOrder } from "./descending-order.ts";

export default definePicker({
  type: "max-score",
  summary: "Picks the highest total; equal totals in random order.",
  create: () => ({ pick: descendingOrder }),
});
