import type { Named } from "../active-config.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import { RouterError } from "../contract/errors.ts";
import type { Picker } from "../contract/picker.ts";
import type { Random } from "../contract/profile-plugin.ts";
import { ignoresPromise } from "../contract/returned-promise.ts";
import { failedPlugin } from "../plugin-watch/plugin-faults.ts";
import { MAX_SLOTS } from "../state/load.ts";

/** By slot: the endpoint's index among the candidates; -1 after the order contained it. Only valid within one call. */
const places = new Int32Array(MAX_SLOTS);

/** Asks the picker in which order to try the candidates. Throws RouterError (plugin_fault) for an order that is not valid. */
export function pick(
  picker: Named<Picker>,
  candidates: readonly Endpoint[],
  totals: ArrayLike<number>,
  random: Random,
): readonly Endpoint[] {
  const order = orderBy(picker, candidates, totals, random);
  // A copy: the list is the plugin's own, which may use it again while this request is still tried.
  if (Array.isArray(order) && order.length > 0 && areAmong(order, candidates)) return order.slice();
  ignoresPromise(order);
  throw new RouterError(
    "plugin_fault",
    `The picker "${picker.name}" must return candidates, at least one and none twice; fix the plugin.`,
    { fault: { plugin: picker.name, text: "A picker must return candidates, at least one and none twice" } },
  );
}

function orderBy(
  picker: Named<Picker>,
  candidates: readonly Endpoint[],
  totals: ArrayLike<number>,
  random: Random,
): readonly Endpoint[] {
  try {
    return picker.plugin.pick(candidates.slice(), totals, random);
  } catch (thrown) {
    throw failedPlugin("picker", picker, thrown);
  }
}

/** Whether each endpoint is one of the candidates, and none is there twice. */
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
