import { type AdapterChange, type AdapterPlaces, Adapters } from "../../../core/control/adapters.ts";
import type { Router } from "../../../core/router.ts";
import { routersOfPools } from "../pool-sites.ts";
import { Problem } from "../problem.ts";

/** Where replicas are asked: at one endpoint, in one pool, or in all. */
export interface Where {
  readonly pool?: string;
  readonly endpoint?: string;
}

/** The adapters of all pools. Endpoints have a name of their own in all of them. */
export class AdaptersOfPools {
  readonly #router: Router;

  constructor(router: Router) {
    this.#router = router;
  }

  list(): readonly AdapterPlaces[] {
    const routers = [...this.#routers().values()];
    const merged = new Map<string, AdapterPlaces>();
    // Rewrites are the router's, for the requests of all pools.
    const targets = () => this.#router.config.targets;
    for (const place of routers.flatMap(({ adapters }) => new Adapters({ ...adapters, targets }).list())) {
      const known = merged.get(place.name);
      merged.set(place.name, known === undefined ? place : together(known, place));
    }
    // What one pool has as its base model is no adapter because a rewrite has it as a target.
    const isElsewhere = ({ name }: AdapterPlaces) =>
      routers.some(({ pool }) => pool.facts.endpoints.some(({ models }) => models.has(name)));
    const shown = [...merged.values()].filter((place) => place.loaded.length > 0 || !isElsewhere(place));
    return shown.sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** As `Adapters.load`. Throws Problem. */
  load(name: string, where: Where & { readonly path?: string }): Promise<readonly AdapterChange[]> {
    return this.#each(where, (adapters) => adapters.load(name, where));
  }

  /** As `Adapters.unload`. Throws Problem. */
  unload(name: string, where: Where): Promise<readonly AdapterChange[]> {
    return this.#each(where, (adapters) => adapters.unload(name, where));
  }

  async #each(
    { pool, endpoint }: Where,
    change: (adapters: Adapters) => Promise<readonly AdapterChange[]>,
  ): Promise<readonly AdapterChange[]> {
    const all = this.#routers();
    if (pool !== undefined && !all.has(pool)) throw unknownPool([...all.keys()]);
    const inPool = [...all].flatMap(([name, router]) => (pool === undefined || name === pool ? [router] : []));
    const has = (router: Router) => router.pool.facts.endpoints.some(({ name }) => name === endpoint);
    const asked = endpoint === undefined ? inPool : inPool.filter(has);
    if (asked.length === 0) throw unknownEndpoint();
    const changes = await Promise.all(asked.map(({ adapters }) => change(new Adapters(adapters))));
    return changes.flat();
  }

  #routers(): ReadonlyMap<string, Router> {
    return new Map([[this.#router.config.pool, this.#router], ...routersOfPools(this.#router)]);
  }
}

/** Of one name in two pools. */
function together(one: AdapterPlaces, other: AdapterPlaces): AdapterPlaces {
  return {
    name: one.name,
    isTarget: one.isTarget || other.isTarget,
    loaded: [...one.loaded, ...other.loaded],
    loading: [...one.loading, ...other.loading],
    refused: [...one.refused, ...other.refused],
  };
}

function unknownPool(names: readonly string[]): Problem {
  return new Problem(404, "unknown_pool", `The router has no pool of this name; it has ${names.join(", ")}.`);
}

function unknownEndpoint(): Problem {
  return new Problem(404, "unknown_endpoint", "No endpoint of the pool has that name; `signalbox status` shows the names.");
}
