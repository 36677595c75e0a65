import { type Endpoint, isServing } from "../contract/endpoint.ts";

/**
 * How many endpoints serve a target of a rule now: of its own pool where the rule says one, else of all pools.
 *
 * @example
 * readyEndpoints({ name: "llama", pool: "canary" }, new Map([["canary", endpoints]]))
 */
export function readyEndpoints(
  { name, pool }: { readonly name: string; readonly pool?: string | undefined },
  byPool: ReadonlyMap<string, readonly Endpoint[]>,
): number {
  const asked = pool === undefined ? [...byPool.values()].flat() : (byPool.get(pool) ?? []);
  return asked.filter((endpoint) => isServing(endpoint) && endpoint.models.has(name)).length;
}
