import type { Profile } from "../active-config.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { Log } from "../contract/log.ts";
import type { InferenceRequest } from "../contract/request.ts";
import { ignoresPromise } from "../contract/returned-promise.ts";
import { thrownText } from "../contract/thrown-text.ts";
import type { TryResult } from "../contract/try-result.ts";

/** Calls `ended` of the profile's plugins. A plugin that throws is logged; the response stays as it is. */
export function tellEnded(
  ended: NonNullable<Profile["ended"]>,
  request: InferenceRequest,
  endpoint: Endpoint,
  result: TryResult,
  log: Log,
): void {
  for (const { name, plugin } of ended) {
    try {
      ignoresPromise(plugin.ended(request, endpoint, result));
    } catch (thrown) {
      log.warn("A plugin broke its contract", { plugin: name, method: "ended", fault: thrownText(thrown) });
    }
  }
}
