import type { ActiveConfig } from "../../../core/active-config.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { LoadTable } from "../../../core/state/load.ts";
import { ReplicaRoom, type RoomRules } from "../../../core/state/room.ts";
import { ModelTargets, serves } from "./model-targets.ts";

/** free: a replica has room. full: those that serve the model have none. empty: no replica is ready. */
export type RoomOfModel = "free" | "full" | "empty";

const MOST_LOOKED_AT = 64;

/** Which models the pool has room for. */
export class PoolRoom {
  readonly replicas: ReplicaRoom;
  readonly #endpoints: () => readonly Endpoint[];
  readonly #targets: ModelTargets;
  /** Where room was found last: the next request looks there first. */
  #last = 0;

  constructor(load: LoadTable, rules: RoomRules, endpoints: () => readonly Endpoint[], config: ActiveConfig) {
    this.replicas = new ReplicaRoom(load, rules);
    this.#endpoints = endpoints;
    this.#targets = new ModelTargets(config);
  }

  of(model: string, isCalm: boolean, nowMs: number): RoomOfModel {
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
      if (!this.isFree(endpoint, isCalm, nowMs)) continue;
      isAnyFree = true;
      if (!isServing) continue;
      this.#last = at;
      return "free";
    }
    if (!isReady) return "empty";
    // What no replica lists any of them may load, or the decision refuses it.
    return !isServed && (isAnyFree || !this.#targets.mayBeLoaded(model)) ? "free" : "full";
  }

  isFree({ slot, isAvailable }: Endpoint, isCalm: boolean, nowMs: number): boolean {
    return isAvailable && this.replicas.fill(slot, isCalm, nowMs) < 1;
  }

  serves(endpoint: Endpoint, model: string): boolean {
    return serves(endpoint, model, this.#targets.of(model));
  }

  /** How full the replicas are that are ready, on average over some of them; 1 without any. */
  saturation(nowMs: number): number {
    const endpoints = this.#endpoints();
    let sum = 0;
    let count = 0;
    for (let step = 0; step < endpoints.length && count < MOST_LOOKED_AT; step++) {
      const { slot, isAvailable } = endpoints[(this.#last + step) % endpoints.length]!;
      if (!isAvailable) continue;
      count += 1;
      sum += Math.min(1, this.replicas.fill(slot, false, nowMs));
    }
    return count === 0 ? 1 : sum / count;
  }
}
