import { defineScorer } from "../../core/contract/plugin.ts";
import { Nearness, placeNeeds, placeOptions } from "../filters/topology-place.ts";

/** By level: host, rack, zone, region, none; the reference router's numbers. They follow the bandwidth between two such places. */
const SCORES = [1, 0.2, 0.05, 0.02, 0] as const;

/** score = 1 on the same host, 0.2 in the same rack, 0.05 zone, 0.02 region, else 0; no opinion where nothing says what to be near to. */
export default defineScorer({
  type: "topology-scorer",
  summary: "Prefers endpoints near to where the request asks, or where the router is: host, rack, zone, region.",
  options: placeOptions,
  needs: ({ labels }) => placeNeeds(labels),
  create(place) {
    const nearness = new Nearness(place);
    return {
      score(request, candidates) {
        const wanted = nearness.wantedBy(request);
        if (wanted === undefined) return null;
        return candidates.map((endpoint) => SCORES[nearness.levelOf(endpoint, wanted)]!);
      },
    };
  },
});
