import { z } from "../../../core/contract/options.ts";
import { defineFeature } from "../../../core/contract/plugin.ts";
import type { RouterHost } from "../../../core/router-host.ts";
import { SentAdapters } from "./sent-adapters.ts";

const count = z.int().min(0).max(1024).default(0);
const options = z.strictObject({
  maxLora: count.describe(
    "How many adapters a replica runs at the same time (vLLM's --max-loras), where its metrics do not say it. 0: not known.",
  ),
  maxCpuLora: count.describe(
    "How many adapters a replica keeps in its host's memory (vLLM's --max-cpu-loras), which its metrics never say. 0: as many as it runs.",
  ),
});

/** Remembers which engines hold which adapters, and what a load costs; decisions read it. */
export default defineFeature({
  type: "resident-adapters",
  summary: "Remembers which adapters were sent to which replica, and what loading one costs, so that they stay there.",
  options,
  runsByDefault: true,
  create(parameters, host) {
    const { load, facts } = host as Partial<RouterHost>;
    // The host of a test kit has no pool.
    if (load === undefined || facts === undefined) return {};
    const sent = host.keep(1, () => new SentAdapters(load, host.clock));
    sent.options = parameters;
    load.residents = sent;
    return {
      endpointsChanged: (endpoints) => sent.follow(endpoints),
      status: () => ({
        loadMs: Math.round(sent.cost.ms("cold")),
        held: Object.fromEntries(
          facts()
            .endpoints.map((endpoint) => [endpoint.name, sent.heldAt(endpoint)] as const)
            .filter(([, names]) => names.length > 0),
        ),
      }),
    };
  },
});
