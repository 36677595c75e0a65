import type { Endpoint } from "../../../../core/contract/endpoint.ts";
import type { HostConnections } from "../../../../core/host/door.ts";
import type { ReplicaConnection, ReplicaConnections } from "../../../../core/pool/connections.ts";
import type { Pool } from "../../../../core/pool/pool.ts";
import { UpstreamPool } from "../../../../core/wire/upstream-pool.ts";
import { ReplicaSession, type SessionOwner, type SessionParts } from "./replica-session.ts";

/** So many a client has at most: beyond it the one ends that was not used for longest. */
const MOST_SESSIONS = 8;
/** Replicas without sockets have none. */
const NONE: ReplicaConnections = { take: () => undefined, takeSpare: () => undefined };

/** The WebSockets of one client at replicas: one at each that has got a message of its. Those that were used last come last. */
export class ReplicaSessions implements HostConnections {
  readonly #owner: SessionOwner;
  readonly #parts: SessionParts;
  readonly #sessions = new Map<UpstreamPool, ReplicaSession>();

  constructor(owner: Omit<SessionOwner, "ended">, parts: SessionParts) {
    this.#owner = { ...owner, ended: ({ pool }) => void this.#sessions.delete(pool) };
    this.#parts = parts;
  }

  of(endpoint: Endpoint, pool: Pool): ReplicaConnections {
    const replica = pool.connections.of(endpoint);
    return replica instanceof UpstreamPool ? { ...NONE, take: () => this.#take(replica) } : NONE;
  }

  /** The client has left. */
  close(): void {
    for (const session of [...this.#sessions.values()]) session.close();
  }

  /** The one that is open, also for what must not be delivered twice: replicas do not end WebSockets because they were idle. */
  #take(replica: UpstreamPool): ReplicaConnection | undefined {
    const known = this.#sessions.get(replica);
    if (known?.isIdle === true) {
      this.#sessions.delete(replica);
      this.#sessions.set(replica, known);
      return known;
    }
    const { tunnels } = this.#parts;
    if (known !== undefined || replica.size + tunnels.countAt(replica) >= replica.limits.upstreamConnections) return undefined;
    this.#makeRoom();
    const session = new ReplicaSession(replica, this.#owner, this.#parts);
    this.#sessions.set(replica, session);
    return session;
  }

  #makeRoom(): void {
    if (this.#sessions.size < MOST_SESSIONS) return;
    for (const session of this.#sessions.values()) if (session.isIdle) return session.close();
  }
}
