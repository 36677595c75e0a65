import type { Endpoint, Phase } from "../../core/contract/endpoint.ts";
import { RouterError } from "../../core/contract/errors.ts";
import { z } from "../../core/contract/options.ts";
import { defineFilter } from "../../core/contract/plugin.ts";

export default defineFilter({
  type: "ready",
  summary: "Keeps endpoints that are ready.",
  options: z.strictObject({}),
  create: () => ({
    // Usually all are ready, and no new list is needed.
    filter: (_request, candidates) => (candidates.every(isReady) ? candidates : candidates.filter(isReady)),
    refuse: (_request, endpoints) => new RouterError("no_ready_endpoint", whyNone(endpoints), { retryAfterS: 1 }),
  }),
});

/** Words for the phases in which an endpoint is not available. */
const PHASES: readonly (readonly [phase: Phase, words: string])[] = [
  ["starting", "starting"],
  ["not-ready", "not ready"],
  ["draining", "draining"],
  ["ejected", "ejected"],
];

const isReady = (endpoint: Endpoint) => endpoint.isAvailable;

function whyNone(endpoints: readonly Endpoint[]): string {
  const counts = PHASES.map(([phase, words]) => [endpoints.filter((endpoint) => endpoint.phase === phase).length, words] as const)
    .filter(([count]) => count > 0)
    .map(([count, words]) => `${count} ${words}`)
    .join(", ");
  return `No replica of the pool is ready (${counts}); try again shortly, and look at the replicas' own logs if this lasts.`;
}
