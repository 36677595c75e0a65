import type { HostServices } from "../../../core/contract/plugin.ts";
import type { PreparedConfig, Router } from "../../../core/router.ts";
import type { PoolPlan } from "../../../core/router-config.ts";
import { runRouter } from "../../../core/run-router.ts";
import { inPool } from "./pool-log.ts";

/** A pool of the next config: its router, and what is still to be done for it to run. */
export interface PreparedPool {
  readonly plan: PoolPlan;
  readonly router: Router;
  /** Undefined for a router that was started for this config. */
  readonly change: PreparedConfig | undefined;
}

/** The routers behind the pools, which outlive configs. One that no config has any more ends with the last request that uses it. */
export class PoolRouters {
  readonly #services: HostServices;
  #current: ReadonlyMap<string, Router> = new Map();
  /** How many configs hold each router that runs. */
  readonly #holders = new Map<Router, number>();

  constructor({ clock, random, log, output }: HostServices) {
    this.#services = { clock, random, log, output };
  }

  /** Of the newest config. */
  get current(): ReadonlyMap<string, Router> {
    return this.#current;
  }

  /** Does what can fail: starts routers of new pools, and builds the plugins of the others. Throws what one throws, and leaves nothing. */
  prepare(pools: readonly PoolPlan[]): readonly PreparedPool[] {
    const prepared: PreparedPool[] = [];
    try {
      for (const plan of pools) prepared.push(this.#prepare(plan));
      return prepared;
    } catch (thrown) {
      this.discard(prepared);
      throw thrown;
    }
  }

  #prepare(plan: PoolPlan): PreparedPool {
    const known = this.#current.get(plan.name);
    if (known !== undefined) return { plan, router: known, change: known.prepare(plan.plan) };
    const { log, ...services } = this.#services;
    return { plan, router: runRouter(plan.plan, { ...services, log: inPool(plan.name, log) }), change: undefined };
  }

  /** The config that they were prepared for does not run. */
  discard(prepared: readonly PreparedPool[]): void {
    for (const { router, change } of prepared) {
      if (change === undefined) router.close();
      else change.discard();
    }
  }

  /** They are the pools from now on. Their config holds their routers until it releases them. */
  begin(prepared: readonly PreparedPool[]): void {
    for (const { router, change } of prepared) {
      change?.apply();
      this.#holders.set(router, (this.#holders.get(router) ?? 0) + 1);
    }
    this.#current = new Map(prepared.map(({ plan, router }) => [plan.name, router]));
  }

  release(router: Router): void {
    const holders = this.#holders.get(router);
    if (holders === undefined) return;
    this.#holders.set(router, holders - 1);
    if (holders === 1) this.#end(router);
  }

  announceStop(): void {
    for (const router of this.#holders.keys()) router.announceStop();
  }

  close(): void {
    for (const router of [...this.#holders.keys()]) this.#end(router);
  }

  #end(router: Router): void {
    this.#holders.delete(router);
    router.close();
  }
}
