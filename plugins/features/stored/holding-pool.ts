import type { Endpoint, Phase } from "../../../core/contract/endpoint.ts";
import type { Pool } from "../../../core/pool/pool.ts";
import { type Facts, factsOf } from "../../../core/state/facts.ts";

/** Phases of a replica that gets no new work, but answers. */
const ANSWERS: ReadonlySet<Phase> = new Set(["draining", "cordoned", "ejected"] as const);

/** The pool as a request sees it that one replica alone can serve. The facts are today's whenever they are read: it may wait before. */
export class HoldingPool implements Pool {
  readonly #pool: Pool;
  readonly #holder: (endpoints: readonly Endpoint[]) => Endpoint;
  #all: Facts | undefined;
  #held: Facts | undefined;

  /** `holder` throws RouterError where there is none any more. */
  constructor(pool: Pool, holder: (endpoints: readonly Endpoint[]) => Endpoint) {
    this.#pool = pool;
    this.#holder = holder;
  }

  get facts(): Facts {
    const { facts } = this.#pool;
    if (this.#held === undefined || this.#all !== facts) this.#held = factsOf([this.#holder(facts.endpoints)]);
    this.#all = facts;
    return this.#held;
  }

  get prefixIndex() {
    return this.#pool.prefixIndex;
  }

  get tokenScale() {
    return this.#pool.tokenScale;
  }

  get load() {
    return this.#pool.load;
  }

  get retryBudget() {
    return this.#pool.retryBudget;
  }

  get figures() {
    return this.#pool.figures;
  }

  get control() {
    return this.#pool.control;
  }

  get connections() {
    return this.#pool.connections;
  }
}

/** The endpoint for a request that asks it for no work: it is enough that it answers. */
export function answering(endpoint: Endpoint): Endpoint {
  return ANSWERS.has(endpoint.phase) ? { ...endpoint, isAvailable: true, share: 1, isOnTrial: false } : endpoint;
}

/** Whether the replica can be asked whether it has something. */
export function canAnswer({ phase, isAvailable }: Endpoint): boolean {
  return isAvailable || ANSWERS.has(phase);
}
