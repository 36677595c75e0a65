import type { Room, Waiting } from "../../contract/admission.ts";
import type { Endpoint } from "../../contract/endpoint.ts";
import type { LoadTable } from "../../state/load.ts";
import { ReplicaRoom, type RoomRules } from "../../state/room.ts";
import { ModelTargets, serves, type TargetsConfig } from "./model-targets.ts";

/** free: a replica has room. full: those that serve the model have none. empty: no replica is ready. */
export type RoomOfModel = "free" | "full" | "empty";

/** Which models the pool has room for. */
export class PoolRoom {
  readonly #replicas: ReplicaRoom;
  readonly #endpoints: () => readonly Endpoint[];
  readonly #targets: ModelTargets;
  /** Where room was found last: the next request looks there first. */
  #last = 0;

  constructor(load: LoadTable, rules: RoomRules, endpoints: () => readonly Endpoint[], config: TargetsConfig) {
    this.#replicas = new ReplicaRoom(load, rules);
    this.#endpoints = endpoints;
    this.#targets = new ModelTargets(config);
  }

  isFull(slot: number, nowMs: number): boolean {
    return this.#replicas.isFull(slot, nowMs);
  }

  of(model: string, nowMs: number): RoomOfModel {
    const endpoints = this.#endpoints();
    const targets = this.#targets.of(model);
    let isReady = false;
    let isServed = false;
    let isAnyFree = false;
    for (let step = 0; step < endpoints.length; step++) {
      const at = (this.#last + step) % endpoints.length;
      const endpoint = endpoints[at]!;
      if (!endpoint.isAvailable) continue;
      isReady = true;
      const isServing = serves(endpoint, model, targets);
      isServed ||= isServing;
      if (this.#replicas.isFull(endpoint.slot, nowMs)) continue;
      isAnyFree = true;
      if (!isServing) continue;
      this.#last = at;
      return "free";
    }
    if (!isReady) return "empty";
    // What no replica lists any of them may load, or the decision refuses it.
    return !isServed && (isAnyFree || !this.#targets.mayBeLoaded(model)) ? "free" : "full";
  }

  /** What there is at one moment: in the whole pool, or at some of its endpoints. */
  at(nowMs: number, endpoints?: readonly Endpoint[]): RoomNow {
    return new RoomNow(this, endpoints ?? this.#endpoints(), endpoints === undefined, nowMs);
  }

  serves(endpoint: Endpoint, model: string): boolean {
    return serves(endpoint, model, this.#targets.of(model));
  }

  /** How full the replicas are that are ready, on average; 1 without any. */
  saturation(nowMs: number): number {
    let sum = 0;
    let count = 0;
    for (const { slot, isAvailable } of this.#endpoints()) {
      if (!isAvailable) continue;
      count += 1;
      sum += Math.min(1, this.#replicas.fill(slot, nowMs));
    }
    return count === 0 ? 1 : sum / count;
  }
}

/** The room while requests go on: what they take is gone for the next one. */
export class RoomNow implements Room {
  readonly nowMs: number;
  readonly #pool: PoolRoom;
  readonly #endpoints: readonly Endpoint[];
  readonly #isWhole: boolean;

  constructor(pool: PoolRoom, endpoints: readonly Endpoint[], isWhole: boolean, nowMs: number) {
    this.#pool = pool;
    this.#endpoints = endpoints.filter((endpoint) => endpoint.isAvailable && !pool.isFull(endpoint.slot, nowMs));
    this.#isWhole = isWhole;
    this.nowMs = nowMs;
  }

  get hasAny(): boolean {
    return this.#isWhole || this.#endpoints.some(({ slot }) => !this.#pool.isFull(slot, this.nowMs));
  }

  get saturation(): number {
    return this.#pool.saturation(this.nowMs);
  }

  readonly isFor = ({ model }: Waiting): boolean => {
    const pool = this.#pool;
    for (const endpoint of this.#endpoints)
      if (!pool.isFull(endpoint.slot, this.nowMs) && pool.serves(endpoint, model)) return true;
    return this.#isWhole && pool.of(model, this.nowMs) === "free";
  };
}
