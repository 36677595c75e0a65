import type { MetricFamily } from "../../core/contract/metric-family.ts";
import type { RouterView } from "../../core/contract/router-view.ts";
import { rewriteStatus } from "./rewrite-status.ts";
import { mappingsOf, viewOf } from "./router-view.ts";
import { shownEndpoints } from "./shown-endpoints.ts";
import type { ViewedSite } from "./site.ts";
import { summaryOf } from "./status-summary.ts";
import { warningsOf } from "./status-warnings.ts";

/** Whether all is well, and what that rests on: one rule for the page, for `signalbox status` and for the metric. */
export function healthOf(site: ViewedSite) {
  const { router } = site;
  const rewrites = mappingsOf(router).map((mapping) => rewriteStatus(mapping, router));
  const endpoints = shownEndpoints(site);
  // Problems that need attention, as sentences.
  const warnings = warningsOf(site, rewrites);
  return { ...summaryOf(endpoints, site.figures.pool, warnings), warnings, endpoints, rewrites };
}

/** The view for observers' pages: one of its metrics is whether all is well. */
export function pageViewOf(site: ViewedSite): RouterView {
  const view = viewOf(site);
  return { ...view, families: () => [wellFamily(healthOf(site).isWell), ...view.families()] };
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
