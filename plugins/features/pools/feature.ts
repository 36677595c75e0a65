import { sectionFeature } from "../../../config/feature.ts";
import type { ActiveConfig } from "../../../core/active-config.ts";
import type { Feature } from "../../../core/contract/feature.ts";
import type { PoolsFeature } from "../../../core/router.ts";
import type { Run } from "../../../core/run.ts";
import type { Ticket } from "../../../core/ticket.ts";
import { Journeys } from "./journeys.ts";
import { PoolRouters } from "./pool-routers.ts";
import { PoolTally } from "./pool-tally.ts";
import { poolsSection } from "./pools-config.ts";
import { poolsLines, poolsStatus } from "./pools-shown.ts";
import { RunningPools } from "./running-pools.ts";

/** Runs several pools behind one router, and says which requests go to which. */
export default sectionFeature({
  type: "pools",
  summary: "Runs several pools behind one router, and says which requests go to which.",
  section: poolsSection,
  create(config, host) {
    const { routers, journeys, tally } = host.keep(1, () => {
      const tally = new PoolTally();
      return { routers: new PoolRouters(host), journeys: new Journeys(tally), tally };
    });
    const { pools = [] } = config ?? {};
    if (pools.length === 0) {
      const configured = () => routers.begin([]);
      return { configured, metrics: () => [], closed: () => routers.close() };
    }
    let names: readonly string[] = [];
    const running = new RunningPools(config, routers);
    const feature: Feature<ActiveConfig> & PoolsFeature = {
      bodyKeys: running.bodyKeys,
      choosePool: (run) => journeys.choose(run as Run, running.placesFor(run as Run)),
      fallBack: (run, why) => running.places !== undefined && journeys.fallBack(run as Run, why, running.places),
      settled: (ticket) => journeys.settled(ticket as Ticket, host.log),
      explain: (outcome) => journeys.explain(outcome),
      endpointsElsewhere: () => [...routers.current.values()].flatMap(({ pool }) => pool.facts.endpoints),
      configured(active) {
        running.begin(active);
        names = [active.pool, ...pools.map(({ name }) => name)];
        tally.follow(new Set(names));
      },
      get routersOfPools() {
        return routers.current;
      },
      meantFor: (outcome) => journeys.meantFor(outcome),
      dryPool: (run, parsed, front) => running.dryPool(run, parsed, front),
      status: (rule) => (rule === undefined ? { pools: poolsStatus(config, routers.current, tally) } : {}),
      metrics: () => tally.metrics(names),
      stopAnnounced: () => routers.announceStop(),
      closed: () => routers.close(),
      dispose: () => running.end(),
    };
    return feature;
  },
  text: { router: poolsLines, top: poolsLines },
});
