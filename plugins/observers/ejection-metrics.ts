import type { RouterView } from "../../core/contract/router-view.ts";
import { familyHead, sampleLine, single } from "./exposition.ts";

/** How often endpoints were ejected, and whether too many would have to be. */
export function ejectionMetrics({ pool }: Pick<RouterView, "pool">): string {
  const name = "signalbox_endpoint_ejections_total";
  const samples = pool.endpoints.map((endpoint) => sampleLine(name, ["endpoint"], [endpoint.name], pool.ejectionsOf(endpoint)));
  const panic = "1 while so many endpoints fail that all that are up are used.";
  return (
    familyHead(name, "counter", "How often the endpoint was ejected for what its responses were.") +
    samples.join("") +
    single("signalbox_pool_panic", "gauge", panic, pool.isPanicking ? 1 : 0)
  );
}
