import type { Room, Waiting } from "../../../core/contract/admission.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { Discipline } from "./discipline.ts";
import type { PoolRoom } from "./pool-room.ts";

/** The room in the whole pool, or at some of its endpoints, while requests go on: what they take is gone for the next one. */
export class RoomNow implements Room {
  readonly nowMs: number;
  readonly #pool: PoolRoom;
  readonly #endpoints: readonly Endpoint[] | undefined;
  readonly #ceilings: Discipline;

  constructor(pool: PoolRoom, endpoints: readonly Endpoint[] | undefined, ceilings: Discipline, nowMs: number) {
    this.#pool = pool;
    this.#endpoints = endpoints;
    this.#ceilings = ceilings;
    this.nowMs = nowMs;
  }

  /** False where nobody could go on. */
  get hasAny(): boolean {
    return this.#endpoints?.some((endpoint) => this.#pool.isFree(endpoint, false, this.nowMs)) ?? true;
  }

  readonly isFor = ({ model, priority }: Waiting): boolean => {
    if (!this.#ceilings.isOpen(priority, this.#pool, this.nowMs)) return false;
    if (this.#endpoints === undefined) return this.#pool.of(model, false, this.nowMs) === "free";
    for (const endpoint of this.#endpoints)
      if (this.#pool.isFree(endpoint, false, this.nowMs) && this.#pool.serves(endpoint, model)) return true;
    return false;
  };
}
