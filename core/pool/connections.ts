import type { Endpoint } from "../contract/endpoint.ts";
import type { Limits, ReplicaTlsSettings } from "../settings.ts";
import type { ResponseReader } from "../wire/response-reader.ts";
import type { TriesView } from "./tries-view.ts";

/** A connection to a replica, as whoever reads a response from it uses it. */
export interface ReadConnection {
  /** False while the kernel has not taken all bytes of the request. */
  readonly hasSentAll: boolean;
  /** Takes no bytes of the response until `resume`. */
  pause(): void;
  resume(): void;
  /** Ends the connection and its response without calling the reader. */
  destroy(): void;
}

/** A connection to a replica, as a try uses it. */
export interface ReplicaConnection extends ReadConnection {
  /** Sends a head (latin1) and a body, which must not change before the reader's end or failure. `frontBytes`: see writeRequest. */
  send(method: string, head: string, body: readonly Uint8Array[], reader: ResponseReader, frontBytes?: number): void;
}

/** The connections to one replica. */
export interface ReplicaConnections {
  /** A connection to send on, or undefined at the limit. `isFresh` refuses one that has carried a request before. */
  take(isFresh: boolean): ReplicaConnection | undefined;
  /** One that clients will not miss; undefined if there is none. */
  takeSpare(): ReplicaConnection | undefined;
}

/** The connections of a pool to all of its replicas. They outlive configs. */
export interface PoolConnections extends TriesView {
  of(endpoint: Endpoint): ReplicaConnections;
  /** Open connections to the endpoint, busy and idle. */
  openTo(endpoint: Endpoint): number;
  /** Connections in use at the endpoint's address from before it left the pool and came back. */
  leftOpenAt(endpoint: Endpoint): number;
  /** Another process serves the slot: idle connections belong to the old one. */
  closeIdle(slot: number): void;
  /** The pool has these endpoints now. */
  follow(endpoints: readonly Endpoint[]): void;
  /** Open connections keep to these limits from their next step on. */
  useLimits(limits: Limits): void;
  /** Connections that begin later keep to it. */
  useTls(tls: ReplicaTlsSettings | undefined): void;
  close(): void;
}
