import type { MetricFamily } from "../contract/metric-family.ts";
import type { RouterView } from "../contract/router-view.ts";
import { endpointStatus } from "./endpoint-status.ts";
import { rewriteStatus } from "./rewrite-status.ts";
import { type ShownConfig, type ShownRouter, type ViewedSite, viewOf } from "./router-view.ts";
import { summaryOf } from "./status-summary.ts";
import { warningsOf } from "./status-warnings.ts";

/** Whether all is well, and what that rests on: one rule for the page, for `signalbox status` and for the metric. */
export function healthOf(router: ShownRouter, view: RouterView, running: ShownConfig) {
  const { plugins, features, control } = router;
  const rewrites = view.config.mappings.map((mapping) => rewriteStatus(mapping, view, features));
  const endpoints = view.pool.endpoints.map((endpoint) => endpointStatus(endpoint, view, router));
  // Problems that need attention, as sentences.
  const warnings = warningsOf({ running, rewrites, plugins, control, view, features });
  return { ...summaryOf(endpoints, router.pool.figures.pool, warnings), warnings, endpoints, rewrites };
}

/** The view for observers' pages: one of its metrics is whether all is well. */
export function pageViewOf(site: ViewedSite): RouterView {
  const view = viewOf(site);
  return { ...view, families: () => [wellFamily(healthOf(site.router, view, site.running).isWell), ...view.families()] };
}

export function wellFamily(isWell: boolean): MetricFamily {
  return {
    name: "well",
    type: "gauge",
    help: "1 if nothing needs attention: what the page says on top, and the exit code of signalbox status.",
    labels: [],
    samples: [{ values: [], value: isWell ? 1 : 0 }],
  };
}
