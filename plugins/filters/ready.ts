import type { Endpoint, Phase } from "../../core/contract/endpoint.ts";
import { RouterError } from "../../core/contract/errors.ts";
import { z } from "../../core/contract/options.ts";
import { defineFilter } from "../../core/contract/plugin.ts";

export default defineFilter({
  type: "ready",
  summary: "Keeps endpoints that are ready.",
  options: z.strictObject({}),
  create: () => ({
    // Mostly everyone is: then there is no list to be made.
    filter: (_request, candidates) => (candidates.every(isReady) ? candidates : candidates.filter(isReady)),
    refuse: (_request, endpoints) => new RouterError("no_ready_endpoint", whyNobody(endpoints), { retryAfterS: 1 }),
  }),
});

const isReady = (endpoint: Endpoint) => endpoint.phase === "ready";

function whyNobody(endpoints: readonly Endpoint[]): string {
  const counts = `${count(endpoints, "starting")} starting, ${count(endpoints, "not-ready")} not ready`;
  return `No replica of the pool is ready (${counts}); try again shortly, and look at the replicas' own logs if this lasts.`;
}

function count(endpoints: readonly Endpoint[], phase: Phase): number {
  return endpoints.filter((endpoint) => endpoint.phase === phase).length;
}
