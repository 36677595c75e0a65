import { z } from "../../core/contract/options.ts";
import { defineFilter } from "../../core/contract/plugin.ts";
import { LEVELS, Nearness, placeNeeds, placeOptions } from "./topology-place.ts";

const options = placeOptions.safeExtend({
  /** The loosest level that an endpoint must share to stay. */
  minAffinity: z.enum(LEVELS).default("host"),
});

/** Keeps all where nothing says what to be near to, and where no candidate is near: a preference makes no request unroutable. */
export default defineFilter({
  type: "topology-filter",
  summary: "Keeps endpoints on the same host, rack, zone or region as the request asks, or as the router is.",
  options,
  needs: ({ labels }) => placeNeeds(labels),
  create({ minAffinity, ...place }) {
    const nearness = new Nearness(place);
    const loosest = LEVELS.indexOf(minAffinity);
    return {
      expresses: "wish",
      filter(request, candidates) {
        const wanted = nearness.wantedBy(request);
        if (wanted === undefined) return candidates;
        const near = candidates.filter((endpoint) => nearness.levelOf(endpoint, wanted) <= loosest);
        return near.length === 0 ? candidates : near;
      },
    };
  },
});
