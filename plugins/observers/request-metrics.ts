import type { Endpoint } from "../../core/contract/endpoint.ts";
import { z } from "../../core/contract/options.ts";
import type { Outcome } from "../../core/contract/outcome.ts";
import { defineObserver } from "../../core/contract/plugin.ts";
import type { RouterView } from "../../core/contract/router-view.ts";
import { familyText } from "./buckets.ts";
import { countRequest } from "./count-request.ts";
import { EXPOSITION_TYPE, OTHER } from "./exposition.ts";
import { type Families, familiesText, makeFamilies, makeRoom, setLimits } from "./families.ts";
import { genAiText } from "./gen-ai-families.ts";
import { watchLoop } from "./loop-delay.ts";
import { processText } from "./process-text.ts";
import { stateGauges } from "./state-gauges.ts";
import { tlsText } from "./tls-text.ts";
import { NONE } from "./traffic-table.ts";

const options = z.strictObject({
  /** Most combinations of labels of one counter, and most endpoints; further ones are counted together as "other". */
  maxSeries: z.int().min(16).max(1_000_000).default(10_000),
  /**
   * Most combinations of API, target and endpoint that are told apart. Each is up to 70 lines of the page, most of them buckets;
   * further ones are counted together as "other".
   */
  maxTraffic: z.int().min(16).max(100_000).default(500),
  /** Shows the same measurements under the names of OpenTelemetry's conventions for generative AI (gen_ai_…) too. */
  genAi: z.boolean().default(false),
});

/** What is read from the router when the page is requested. */
const STATE: readonly ((view: RouterView) => string)[] = [
  stateGauges,
  processText,
  tlsText,
  (view) => view.families().map(familyText).join(""),
];

export default defineObserver({
  type: "request-metrics",
  summary: "Counts requests and shows them with the state of the pool as Prometheus text at /metrics.",
  runsByDefault: true,
  options,
  create({ maxSeries, maxTraffic, genAi }, host) {
    const kept = host.keep(3, () => makeFamilies(maxSeries, maxTraffic));
    let stopWatching: (() => void) | undefined;
    /** Set up at the first use, because until then this config may be refused, and the one before goes on. */
    const families = () => {
      if (stopWatching === undefined) {
        setLimits(kept, maxSeries, maxTraffic);
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
  const endpoints = endpointsOf(view);
  makeRoom(families, targetsOf(view, endpoints), new Set(endpoints.map(({ name }) => name)).add(NONE).add(OTHER));
  return familiesText(families) + STATE.map((read) => read(view)).join("") + (hasGenAi ? genAiText(families.traffic.all()) : "");
}

/** Of all pools. */
function endpointsOf({ pool, furtherPools }: RouterView): readonly Endpoint[] {
  return furtherPools === undefined ? pool.endpoints : [pool, ...furtherPools.values()].flatMap(({ endpoints }) => endpoints);
}

function targetsOf({ config }: RouterView, endpoints: readonly Endpoint[]): ReadonlySet<string> {
  const targets = new Set(endpoints.flatMap(({ models }) => [...models])).add(NONE).add(OTHER);
  for (const mapping of config.mappings) for (const { name } of mapping.targets) targets.add(name);
  return targets;
}
