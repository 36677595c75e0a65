import type { Profile } from "../active-config.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { LoadView } from "../contract/load-view.ts";
import type { Log } from "../contract/log.ts";
import type { InferenceRequest } from "../contract/request.ts";
import { ignoresPromise } from "../contract/returned-promise.ts";
import { thrownText } from "../contract/thrown-text.ts";

/** Calls `chosen` of the profile's plugins with the endpoint. A plugin that throws is logged; the choice stays. */
export function tellChosen({ chosen }: Profile, request: InferenceRequest, endpoint: Endpoint, load: LoadView, log: Log): void {
  for (const { name, plugin } of chosen) {
    try {
      ignoresPromise(plugin.chosen(request, endpoint, load));
    } catch (thrown) {
      log.warn("A plugin broke its contract", { plugin: name, method: "chosen", fault: thrownText(thrown) });
    }
  }
}
