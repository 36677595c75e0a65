import type { Named } from "../active-config.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import { RouterError } from "../contract/errors.ts";
import type { Picker, Random } from "../contract/plugin.ts";
import { MAX_SLOTS } from "../state/load.ts";

/** Where each slot's endpoint stands among the candidates of this request; what earlier requests left here does no harm. */
const places = new Int32Array(MAX_SLOTS);

/** Puts the candidates in the order in which they will be tried. */
export function pick(
  picker: Named<Picker>,
  candidates: readonly Endpoint[],
  totals: ArrayLike<number>,
  random: Random,
): readonly Endpoint[] {
  const order = picker.plugin.pick(candidates, totals, random);
  if (order.length === 0 || !areAmong(order, candidates)) {
    throw new RouterError("plugin_fault", `The picker "${picker.name}" must return candidates, at least one; fix the plugin.`);
  }
  return order;
}

function areAmong(order: readonly Endpoint[], candidates: readonly Endpoint[]): boolean {
  for (let i = 0; i < candidates.length; i++) places[candidates[i]!.slot] = i;
  return order.every((endpoint) => endpoint !== undefined && candidates[places[endpoint?.slot]!] === endpoint);
}
