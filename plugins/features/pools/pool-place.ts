import type { ActiveConfig } from "../../../core/active-config.ts";
import type { Router } from "../../../core/router.ts";
import type { FallbackTarget, PoolPlan } from "../../../core/router-config.ts";
import type { RouterParts } from "../../../core/router-parts.ts";
import { type Filled, slotsOf } from "../../../core/slots.ts";

/** A pool as requests of one config use it. */
export interface PoolPlace {
  readonly name: string;
  readonly fallback: readonly FallbackTarget[];
  readonly config: ActiveConfig;
  readonly parts: RouterParts;
  /** How many of the features that admit are of the whole router: what they did holds in every pool. */
  readonly admittedAlready: number;
  /** Of its features, those that are told how requests ended. */
  readonly settled: Filled<"settled">;
}

/** A pool that runs. */
export interface HeldPool {
  readonly plan: PoolPlan;
  readonly router: Router;
  /** Of the pool alone. */
  readonly inner: ActiveConfig;
  /** As its requests use it: what is for all pools is the front's. */
  readonly config: ActiveConfig;
}

/** Keeps the pool's own config from being disposed. Its features get to know what is the front's, such as the rewriters. */
export function heldPool(plan: PoolPlan, router: Router, front: ActiveConfig): HeldPool {
  const inner = router.configs.take();
  const config = configOf(plan, inner, front);
  for (const { plugin } of inner.modules) plugin.configured?.(config);
  return { plan, router, inner, config };
}

/** The router's own pool, beside others with these features of their own. */
export function ownPlace(
  front: ActiveConfig,
  parts: RouterParts,
  fallback: readonly FallbackTarget[],
  keys: ReadonlySet<string>,
): PoolPlace {
  // In every pool the same features come first.
  const modules = [...front.modules.filter(({ name }) => !keys.has(name)), ...front.modules.filter(({ name }) => keys.has(name))];
  return placeOf(front.pool, fallback, { ...front, modules, slots: slotsOf(modules) }, partsOf(front, parts, parts), keys);
}

/** A pool behind a router of its own. */
export function poolPlace({ plan, router, inner, config }: HeldPool, front: ActiveConfig, parts: RouterParts): PoolPlace {
  const keys = new Set(inner.modules.map((module) => module.name));
  return placeOf(plan.name, plan.fallback, config, partsOf(front, parts, router), keys);
}

function configOf({ name, plan }: PoolPlan, inner: ActiveConfig, front: ActiveConfig): ActiveConfig {
  const keys = new Set(inner.modules.map((module) => module.name));
  const modules = [...front.modules.filter((module) => !keys.has(module.name)), ...inner.modules];
  const { retries, unlisted, adaptersByClients, credentials, replicaTls } = inner.settings;
  const ofPool = plan.sections.map(({ section: { key } }) => [key, inner.features.get(key)] as const);
  return {
    ...front,
    pool: name,
    profile: inner.profile,
    others: inner.others,
    admission: inner.admission,
    settings: { ...front.settings, retries, unlisted, adaptersByClients, credentials, replicaTls },
    features: new Map([...front.features, ...ofPool]),
    modules,
    slots: slotsOf(modules),
  };
}

function placeOf(
  name: string,
  fallback: readonly FallbackTarget[],
  config: ActiveConfig,
  parts: RouterParts,
  keys: ReadonlySet<string>,
): PoolPlace {
  const { admit, settled } = config.slots;
  const admittedAlready = admit.filter((feature) => !keys.has(feature.name)).length;
  return { name, fallback, config, parts, admittedAlready, settled: settled.filter((feature) => keys.has(feature.name)) };
}

/** Requests give back the front's config, which they took. */
function partsOf(
  front: ActiveConfig,
  { services, configs, gate, identity }: RouterParts,
  of: Pick<Router, "pool" | "plugins"> | RouterParts,
): RouterParts {
  const { pool, plugins } = of;
  return {
    ...{ services, gate, identity, pool, plugins },
    configs: { take: () => configs.take(), giveBack: () => configs.giveBack(front) },
  };
}
