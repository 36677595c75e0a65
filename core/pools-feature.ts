import type { ActiveConfig } from "./active-config.ts";
import type { PoolsFeature } from "./router.ts";

/** What runs the pools beside the router's own; undefined where there are none. */
export function poolsFeature({ modules }: Pick<ActiveConfig, "modules">): PoolsFeature | undefined {
  const features = modules.map(({ plugin }) => plugin as Partial<PoolsFeature>);
  return features.find((feature): feature is PoolsFeature => feature.routersOfPools !== undefined);
}
