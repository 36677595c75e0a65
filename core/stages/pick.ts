import type { Named } from "../active-config.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import { RouterError } from "../contract/errors.ts";
import type { Picker } from "../contract/picker.ts";
import type { Random } from "../contract/profile-plugin.ts";
import { MAX_SLOTS } from "../state/load.ts";

/** Where each slot's endpoint stands among the candidates of this request; -1 once the order has it. Used up within one call. */
const places = new Int32Array(MAX_SLOTS);

/** Puts the candidates in the order in which they will be tried. */
export function pick(
  picker: Named<Picker>,
  candidates: readonly Endpoint[],
  totals: ArrayLike<number>,
  random: Random,
): readonly Endpoint[] {
  const order = orderBy(picker, candidates, totals, random);
  // A copy: the list is the plugin's own, which may use it again while this request is still tried.
  if (Array.isArray(order) && order.length > 0 && areAmong(order, candidates)) return Object.freeze(order.slice());
  throw new RouterError(
    "plugin_fault",
    `The picker "${picker.name}" must return candidates, at least one and none twice; fix the plugin.`,
  );
}

function orderBy(
  picker: Named<Picker>,
  candidates: readonly Endpoint[],
  totals: ArrayLike<number>,
  random: Random,
): readonly Endpoint[] {
  try {
    return picker.plugin.pick(candidates, totals, random);
  } catch (cause) {
    throw new RouterError("plugin_fault", `The picker "${picker.name}" failed on this request; fix the plugin.`, { cause });
  }
}

/** Whether each is one of the candidates, and none stands there twice. */
function areAmong(order: readonly Endpoint[], candidates: readonly Endpoint[]): boolean {
  for (let i = 0; i < candidates.length; i++) places[candidates[i]!.slot] = i;
  for (let i = 0; i < order.length; i++) {
    const endpoint = order[i];
    const place = places[endpoint?.slot ?? -1] ?? -1;
    if (endpoint === undefined || endpoint === null || candidates[place] !== endpoint) return false;
    places[endpoint.slot] = -1;
  }
  return true;
}
