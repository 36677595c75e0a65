import { pingFrame } from "../../../../core/wire/websocket/frames.ts";
import type { ClientSide } from "../client-side.ts";
import type { ReplicaSide } from "../replica-side.ts";

/** Sends pings to both ends of a session when they have got nothing for a while: proxies cut a connection on which nothing passes. */
export class SilentEnds {
  readonly #client: ClientSide;
  readonly #replica: ReplicaSide;
  readonly #pingMs: number;
  #toClientMs: number;
  #toReplicaMs: number;

  constructor(client: ClientSide, replica: ReplicaSide, pingMs: number) {
    this.#client = client;
    this.#replica = replica;
    this.#pingMs = pingMs;
    this.#toClientMs = replica.nowMs;
    this.#toReplicaMs = replica.nowMs;
  }

  clientGot(): void {
    this.#toClientMs = this.#replica.nowMs;
  }

  replicaGot(): void {
    this.#toReplicaMs = this.#replica.nowMs;
  }

  /** `isBetween`: no frame to the replica is under way. */
  ping(nowMs: number, isBetween: boolean): void {
    if (nowMs - this.#toReplicaMs >= this.#pingMs && isBetween) {
      this.#toReplicaMs = nowMs;
      this.#replica.say(pingFrame(true));
    }
    if (nowMs - this.#toClientMs < this.#pingMs || !this.#client.frames.isBetween) return;
    this.#toClientMs = nowMs;
    this.#client.say(pingFrame(false));
  }
}
