import type { Named } from "../../core/active-config.ts";
import type { NameSet } from "../../core/contract/name-set.ts";
import type { Router } from "../../core/router.ts";
import { FACTS_VERSION, type FactsDocument, writePool } from "../../core/state/facts-document.ts";
import { routersOfPools } from "./pool-sites.ts";

/** Built-in plugins whose state decides and names only rules and endpoints. Any other may keep what must not leave the process. */
const KEEPERS: ReadonlySet<string> = new Set(["model-rewrite", "round-robin", "no-hit-lru"]);

/** What a decision reads now, but for what is known of prompts: in the router's own pool, and in those beside it. */
export function savedFacts(router: Router): FactsDocument {
  const { targets } = router.config;
  const pools = [...routersOfPools(router)].map(([name, inner]) => [name, factsOfPool(inner, targets)] as const);
  return { ...factsOfPool(router, targets), ...(pools.length > 0 && { pools: Object.fromEntries(pools) }) };
}

function factsOfPool({ config, kept, pool, services }: Router, targets: NameSet): FactsDocument {
  const { rewriters, profile } = config;
  const { clock } = services;
  const plugins: readonly Named<unknown>[] = [...rewriters, ...profile.filters, ...profile.scorers, profile.picker];
  const saved = kept.saved(plugins.filter(({ type, file = "" }) => file === "" && KEEPERS.has(type)));
  const isLost = (plugin: Named<unknown>) => kept.has(plugin) && !saved.some(({ name }) => name === plugin.name);
  return {
    version: FACTS_VERSION,
    savedAt: new Date(clock.wall()).toISOString(),
    tokenFactors: pool.tokenScale.factors(),
    partTokens: pool.tokenScale.parts.perUnit(),
    kept: saved,
    lost: plugins.filter(isLost).map(({ name }) => name),
    ...writePool(pool.facts, pool.load.at(clock.now()), targets),
  };
}
