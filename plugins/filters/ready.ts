import type { Endpoint, Phase } from "../../core/contract/endpoint.ts";
import { RouterError } from "../../core/contract/errors.ts";
import { defineFilter } from "../../core/contract/plugin.ts";
import type { InferenceRequest } from "../../core/contract/request.ts";
import { sessionEndpoint, sessionOptions } from "./session-token.ts";

export default defineFilter({
  type: "ready",
  summary: "Keeps endpoints that are ready; a draining one for its sessions, a cordoned one for what only it serves.",
  options: sessionOptions,
  create: ({ headerName }) => ({
    expresses: "need",
    filter(request, candidates) {
      // Usually all are ready, and no new list is needed.
      if (candidates.every(isReady)) return candidates;
      const session = sessionEndpoint(request, headerName, candidates);
      const isUnserved = !candidates.some((endpoint) => endpoint.isAvailable && serves(endpoint, request));
      return candidates.filter(
        (endpoint) =>
          endpoint.isAvailable ||
          (endpoint.stillTakes === "sessions" && endpoint === session) ||
          (endpoint.stillTakes === "unserved" && isUnserved && serves(endpoint, request)),
      );
    },
    refuse: (_request, endpoints) => new RouterError("no_ready_endpoint", whyNone(endpoints), { retryAfterS: 1 }),
  }),
});

/** The phases in which an endpoint is not available. */
const PHASES: readonly Phase[] = ["starting", "not-ready", "asleep", "draining", "cordoned", "ejected"];

const isReady = (endpoint: Endpoint) => endpoint.isAvailable;

const serves = ({ models }: Endpoint, { target }: InferenceRequest) => target === "" || models.has(target);

function whyNone(endpoints: readonly Endpoint[]): string {
  const counts = PHASES.flatMap((phase) => {
    const count = endpoints.filter((endpoint) => endpoint.phase === phase).length;
    return count === 0 ? [] : [`${count} ${phase.replace("-", " ")}`];
  });
  return `No replica of the pool is ready (${counts.join(", ")}); try again shortly, and look at the replicas' own logs if this lasts.`;
}
