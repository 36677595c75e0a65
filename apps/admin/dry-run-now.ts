import { type DryRun, type DryRunParts, type DryRunRequest, dryRun } from "../../core/intake/dry-run.ts";
import { poolsFeature } from "../../core/pools-feature.ts";
import type { Router } from "../../core/router.ts";

/** What would be decided about this request now; nothing is sent or booked. Throws the RouterError that the client would get. */
export function dryRunNow(router: Router, asked: DryRunRequest): DryRun {
  const { config, services } = router;
  const pools = poolsFeature(router.config);
  const choosePool: DryRunParts["choosePool"] =
    pools &&
    ((run, parsed) => {
      const { router: inner = router, ...place } = pools.dryPool(run, parsed, router);
      return { ...place, ...partsOf(inner) };
    });
  return dryRun(asked, config, { ...partsOf(router), random: services.random, choosePool });
}

function partsOf({ config, pool, plugins, services }: Router) {
  return { pool, load: pool.load.at(services.clock.now()), profile: plugins.times.untimed(config.profile) };
}
