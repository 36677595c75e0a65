import { z } from "../../core/contract/options.ts";
import type { Outcome } from "../../core/contract/outcome.ts";
import { defineObserver } from "../../core/contract/plugin.ts";
import type { RouterView } from "../../core/contract/router-view.ts";
import { besideMetrics } from "./beside-metrics.ts";
import { countRequest, type Families, makeFamilies, NONE } from "./count-request.ts";
import { CounterFamily } from "./counter-family.ts";
import { EXPOSITION_TYPE, OTHER } from "./exposition.ts";
import { genAiText } from "./gen-ai-families.ts";
import { HistogramFamily } from "./histogram-family.ts";
import { watchLoop } from "./loop-delay.ts";
import { processText } from "./process-text.ts";
import { rolloutFamilies } from "./rollout-families.ts";
import { stateGauges } from "./state-gauges.ts";
import { trafficText } from "./traffic-families.ts";

const options = z.strictObject({
  /** Most series of one counter; further ones are counted together as "other". */
  maxSeries: z.int().min(16).max(1_000_000).default(10_000),
  /**
   * Most combinations of API, target and endpoint that are told apart. Each is up to 70 lines of the page, most of them buckets;
   * further ones are counted together as "other".
   */
  maxTraffic: z.int().min(16).max(100_000).default(500),
  /** Shows the same measurements under the names of OpenTelemetry's conventions for generative AI (gen_ai_…) too. */
  genAi: z.boolean().default(false),
});

export default defineObserver({
  type: "request-metrics",
  summary: "Counts requests and shows them with the state of the pool as Prometheus text at /metrics.",
  options,
  create({ maxSeries, maxTraffic, genAi }, host) {
    const kept = host.keep(2, () => makeFamilies(maxSeries, maxTraffic));
    let stopWatching: (() => void) | undefined;
    /** Set up at the first use, because until then this config may be refused, and the one before goes on. */
    const families = () => {
      if (stopWatching === undefined) {
        for (const family of Object.values(kept)) if (family instanceof CounterFamily) family.maxSeries = maxSeries;
        kept.traffic.maxRows = maxTraffic;
        kept.hasSizes = genAi;
        stopWatching = watchLoop(host.clock, kept.loopDelays);
      }
      return kept;
    };
    return {
      finished: (outcome: Outcome) => countRequest(families(), outcome),
      pages: [{ path: "/metrics", contentType: EXPOSITION_TYPE, render: (view) => page(families(), view, genAi) }],
      dispose: () => stopWatching?.(),
    };
  },
});

function page(families: Families, view: RouterView, hasGenAi: boolean): string {
  makeRoom(families, view);
  const rows = families.traffic.all();
  const own = Object.values(families).map((family) =>
    family instanceof CounterFamily || family instanceof HistogramFamily ? family.text() : "",
  );
  return (
    trafficText(rows) +
    own.join("") +
    stateGauges(view) +
    processText(view) +
    rolloutFamilies(view) +
    besideMetrics(view) +
    (hasGenAi ? genAiText(rows) : "")
  );
}

/** Names that are gone give their room to others, once half of it is used. */
function makeRoom(families: Families, { endpoints, mappings }: RouterView): void {
  const endpointNames = new Set(endpoints.map(({ name }) => name)).add(NONE).add(OTHER);
  const targets = new Set(endpoints.flatMap(({ models }) => [...models])).add(NONE).add(OTHER);
  for (const mapping of mappings) for (const { name } of mapping.targets) targets.add(name);
  families.traffic.makeRoom(targets, endpointNames);
  for (const family of Object.values(families)) {
    if (!(family instanceof CounterFamily)) continue;
    family.makeRoom("endpoint", endpointNames);
    family.makeRoom("target", targets);
  }
}
