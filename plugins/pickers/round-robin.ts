import type { Endpoint } from "../../core/contract/endpoint.ts";
import { z } from "../../core/contract/options.ts";
import { definePicker } from "../../core/contract/plugin.ts";

interface Turns {
  last: number;
  /** Each slot's last turn, and whose it was: a slot may get another endpoint. */
  readonly bySlot: { readonly name: string; readonly turn: number }[];
}

/** The turn goes to the endpoint that has waited longest for one, which stays fair when each request has other candidates. */
export default definePicker({
  type: "round-robin",
  summary: "Picks each endpoint in turn, whatever the totals.",
  options: z.strictObject({}),
  create(_options, host) {
    const turns = host.keep<Turns>(1, () => ({ last: 0, bySlot: [] }));
    const lastTurn = ({ slot, name }: Endpoint) => (turns.bySlot[slot]?.name === name ? turns.bySlot[slot].turn : 0);
    return {
      pick: (candidates) => [...candidates].sort((a, b) => lastTurn(a) - lastTurn(b)),
      chosen(_request, { slot, name }) {
        turns.last += 1;
        turns.bySlot[slot] = { name, turn: turns.last };
      },
    };
  },
});
