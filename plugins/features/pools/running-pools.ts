import type { PoolsConfig } from "../../../config/pools/schema.ts";
import type { ActiveConfig } from "../../../core/active-config.ts";
import type { ParsedBody } from "../../../core/contract/request.ts";
import type { DryPool } from "../../../core/router.ts";
import type { RouterParts } from "../../../core/router-parts.ts";
import type { AskedRun, Run } from "../../../core/run.ts";
import { Places } from "./pool-choice.ts";
import { type HeldPool, heldPool } from "./pool-place.ts";
import type { PoolRouters, PreparedPool } from "./pool-routers.ts";

/** The pools of one config: built with it, begun when it takes effect, and let go of after its last request. */
export class RunningPools {
  /** Keys of bodies that features of pools read. */
  readonly bodyKeys: readonly string[];
  readonly #config: PoolsConfig;
  readonly #routers: PoolRouters;
  readonly #prepared: readonly PreparedPool[];
  /** The pools' own configs, which this one keeps from being disposed. Undefined before it takes effect. */
  #held: readonly HeldPool[] | undefined;
  #front: ActiveConfig | undefined;
  #places: Places | undefined;
  #isOver = false;

  /** Throws an Error when a pool can't be built. */
  constructor(config: PoolsConfig, routers: PoolRouters) {
    this.#config = config;
    this.#routers = routers;
    this.#prepared = routers.prepare(config.pools);
    const modules = this.#prepared.flatMap(({ router, change }) => (change?.active ?? router.config).modules);
    this.bodyKeys = [...new Set(modules.flatMap(({ plugin }) => plugin.bodyKeys ?? []))];
  }

  /** Undefined before the first request. */
  get places(): Places | undefined {
    return this.#places;
  }

  /** `front` takes effect. */
  begin(front: ActiveConfig): void {
    this.#routers.begin(this.#prepared);
    this.#front = front;
    this.#held = this.#prepared.map(({ plan, router }) => heldPool(plan, router, front));
  }

  /** `run` is one of this config, and has the front's parts. */
  placesFor({ parts }: Pick<Run, "parts">): Places {
    this.#places ??= new Places(this.#config, this.#held!, this.#front!, parts);
    return this.#places;
  }

  /** The same where no request is; `parts` are the front's. */
  dryPool({ head, ticket }: AskedRun, parsed: ParsedBody, parts: RouterParts): DryPool {
    const places = this.placesFor({ parts });
    const { place, draw, why } = places.choose({ parsed, head, key: ticket.principal?.name ?? "" }, true);
    const router = this.#held?.find(({ plan }) => plan.name === place.name)?.router;
    return { router, config: place.config, draw, why };
  }

  /** No request uses the config any more, or it never took effect. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#held === undefined) return this.#routers.discard(this.#prepared);
    for (const { router, inner } of this.#held) {
      router.configs.giveBack(inner);
      this.#routers.release(router);
    }
  }
}
