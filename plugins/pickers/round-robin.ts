import { z } from "../../core/contract/options.ts";
import { definePicker } from "../../core/contract/plugin.ts";

/** The turn goes to who has waited longest for one, which stays fair when each request has other candidates. */
export default definePicker({
  type: "round-robin",
  summary: "Picks each endpoint in turn, whatever the totals.",
  options: z.strictObject({}),
  create() {
    const lastTurns: number[] = [];
    let turn = 0;
    const lastTurn = (slot: number) => lastTurns[slot] ?? 0;
    return {
      pick(candidates) {
        if (candidates.length === 0) return candidates;
        const order = [...candidates].sort((a, b) => lastTurn(a.slot) - lastTurn(b.slot));
        turn += 1;
        lastTurns[order[0]!.slot] = turn;
        return order;
      },
    };
  },
});
