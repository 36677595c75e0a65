import type { MetricFamily } from "../../../core/contract/metric-family.ts";
import type { RouterView } from "../../../core/contract/router-view.ts";

/** How often endpoints were ejected, and whether too many would have to be. */
export function ejectionMetrics({ pool }: RouterView): readonly MetricFamily[] {
  return [
    {
      name: "endpoint_ejections_total",
      type: "counter",
      help: "How often the endpoint was ejected for what its responses were.",
      labels: ["endpoint"],
      samples: pool.endpoints.map((endpoint) => ({ values: [endpoint.name], value: pool.ejectionsOf(endpoint) })),
    },
    {
      name: "pool_panic",
      type: "gauge",
      help: "1 while so many endpoints fail that all that are up are used.",
      labels: [],
      samples: [{ values: [], value: pool.isPanicking ? 1 : 0 }],
    },
  ];
}
