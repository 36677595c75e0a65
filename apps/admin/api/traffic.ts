import { isSpan, SPANS, trafficHistory } from "../figures/traffic-history.ts";
import { Problem } from "../problem.ts";
import type { ApiSite } from "../site.ts";
import { type ApiRoute, route } from "./route.ts";

/** Shows what the pool's requests met in the last day. */
export function trafficRoutes({ figures, clock }: ApiSite): readonly ApiRoute[] {
  return [
    route({
      method: "GET",
      path: "/traffic",
      id: "getTraffic",
      summary: "Requests, failures, times to the first token, cache hits and serving replicas of the last minutes or hours.",
      query: [{ name: "span", meaning: `How far it reaches back: ${SPANS.join(", ")}. Default: ${SPANS[0]}.` }],
      response: trafficHistory,
      run({ query }) {
        const span = query.get("span") ?? "10m";
        if (!isSpan(span)) throw new Problem(400, "bad_query", `span wants one of ${SPANS.join(", ")}.`);
        return { document: figures.histories.shown(span, clock.now()) };
      },
    }),
  ];
}
