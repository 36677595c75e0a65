import type { Endpoint } from "../../core/contract/endpoint.ts";
import { definePicker } from "../../core/contract/plugin.ts";

interface Turns {
  last: number;
  /** Each slot's last turn, with the endpoint's name, because another endpoint may get the slot. */
  readonly bySlot: { readonly name: string; readonly turn: number }[];
}

/** Picks the endpoint whose last turn is the longest ago: this is fair even if each request has other candidates. */
export default definePicker({
  type: "round-robin",
  summary: "Picks each endpoint in turn, regardless of the totals.",
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
