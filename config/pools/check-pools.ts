import type { PoolPlan, RouterSections } from "../../core/router-config.ts";
import type { Resource } from "../read/fit.ts";
import { didYouMean, type Finding, quoted } from "../read/problems.ts";
import type { PoolDocument } from "./schema.ts";

/** A pool, and where its document is. */
export interface ReadPool {
  readonly pool: PoolPlan;
  readonly resource: Resource<PoolDocument>;
}

/** Reports what does not fit together in pools that are each right by themselves. `own`: the Router document's. */
export function checkPools(pools: readonly ReadPool[], own: RouterSections["pool"]): void {
  refuseSharedNames(pools, own);
  refuseSharedClaims(pools);
  const names = [own.name, ...pools.map(({ pool }) => pool.name)];
  for (const { pool, resource } of pools)
    for (const [index, { pool: other }] of pool.fallback.entries()) {
      const finding = wrongFallback(other, pool.name, names);
      if (finding !== undefined) resource.report(["spec", "fallback", index], finding);
    }
}

/** What is wrong with a fallback of the pool `from`; undefined for nothing. */
export function wrongFallback(to: string, from: string, names: readonly string[]): Finding | undefined {
  if (to === from) return { found: `${quoted(to)}, which is this pool itself`, wanted: "another pool" };
  return names.includes(to) ? undefined : unknownPool(to, names);
}

export function unknownPool(name: string, names: readonly string[]): Finding {
  const found = `${quoted(name)}, which is no pool`;
  return { found, wanted: `one of ${names.map(quoted).join(", ")}`, hint: didYouMean(name, names) };
}

/** Names of pools, and of endpoints in all of them. */
function refuseSharedNames(pools: readonly ReadPool[], own: RouterSections["pool"]): void {
  const names = new Map<string, string>([[own.name, "the Router document"]]);
  const endpoints = new Map<string, string>(own.endpoints.map(({ name }) => [name, own.name]));
  for (const { pool, resource } of pools) {
    const taken = names.get(pool.name);
    const found = `the name ${quoted(pool.name)}, which the pool of ${taken} has`;
    if (taken !== undefined) resource.report(["metadata", "name"], { found, wanted: "a name of its own" });
    names.set(pool.name, resource.file);
    for (const { name } of pool.plan.config.pool.endpoints) {
      const other = endpoints.get(name);
      endpoints.set(name, pool.name);
      if (other === undefined || other === pool.name) continue;
      resource.report(["spec", "pool", "endpoints"], {
        found: `the endpoint ${quoted(name)}, which the pool ${quoted(other)} has too`,
        wanted: "each replica in one pool; two on one host need a name each",
      });
    }
  }
}

/** Where two pools ask for the same of a request, the second one would never get it. */
function refuseSharedClaims(pools: readonly ReadPool[]): void {
  const claims = new Map<string, string>();
  for (const { pool, resource } of pools) {
    const { models, keys } = pool;
    const headers = [...pool.headers].map(([name, values]) => [name, [...values].sort()]).sort();
    if (models.length === 0 && keys.length === 0 && headers.length === 0) continue;
    for (const [index, model] of (models.length === 0 ? [undefined] : models).entries()) {
      const claim = JSON.stringify([model, headers, [...keys].sort()]);
      const other = claims.get(claim);
      claims.set(claim, other ?? pool.name);
      if (other === undefined || other === pool.name) continue;
      const what = model === undefined ? "the same requests" : `the model ${quoted(model)}`;
      resource.report(model === undefined ? ["metadata", "name"] : ["spec", "models", index], {
        found: `${what}, for which the pool ${quoted(other)} asks too`,
        wanted: "it in one pool; where one serves what the other can't, spec.fallback",
      });
    }
  }
}
