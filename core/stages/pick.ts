import type { Endpoint } from "../endpoint.ts";
import { RouterError } from "../errors.ts";
import type { Picker, Random } from "../plugin.ts";
import type { Named } from "../snapshot.ts";

/** Puts the candidates in the order in which they will be tried. */
export function pick(
  picker: Named<Picker>,
  candidates: readonly Endpoint[],
  totals: ArrayLike<number>,
  random: Random,
): readonly Endpoint[] {
  const order = picker.plugin.pick(candidates, totals, random);
  if (order.length === 0 || order.some((endpoint) => !candidates.includes(endpoint))) {
    throw new RouterError("plugin_fault", `The picker "${picker.name}" must return candidates, at least one; fix the plugin.`);
  }
  return order;
}
