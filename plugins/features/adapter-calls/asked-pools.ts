import { RouterError } from "../../../core/contract/errors.ts";
import { poolsFeature } from "../../../core/pools-feature.ts";
import type { AdapterAccess } from "../../../core/router-host.ts";
import type { Run } from "../../../core/run.ts";

/** A pool whose replicas a call reaches. */
export interface AskedPool {
  /** Undefined where there is one pool only. */
  readonly name: string | undefined;
  readonly access: AdapterAccess | undefined;
}

/** Each pool that lets clients do it, or the one that the query names (`?pool=NAME`). `own`: of the router's own. Throws RouterError. */
export function askedPools({ config, query }: Run, own: AdapterAccess | undefined): readonly AskedPool[] {
  const further = [...(poolsFeature(config)?.routersOfPools ?? [])].map(([name, { config: inner, adapters }]) => {
    return { name, isOpen: inner.settings.adaptersByClients, access: adapters };
  });
  const all = [{ name: config.pool, isOpen: config.settings.adaptersByClients, access: own }, ...further];
  const named = new URLSearchParams(query).get("pool");
  const pools = named === null ? all : all.filter(({ name }) => name === named);
  if (pools.length === 0)
    throw new RouterError(
      "invalid_value",
      "No pool has that name: name one of the router's pools (?pool=NAME), or none for all.",
    );
  const open = pools.filter(({ isOpen }) => isOpen);
  if (open.length === 0) throw new RouterError("adapters_closed", NOT_BY_CLIENTS);
  return further.length === 0 ? [{ name: undefined, access: own }] : open;
}

const NOT_BY_CLIENTS =
  "Clients may not load or unload adapters at this router (spec.pool.adapters.byClients); its operator can: signalbox adapters.";
