import type { RouteParser } from "../active-config.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { RouterError } from "../contract/errors.ts";
import type { ReplicaConnections } from "../pool/connections.ts";
import type { Pool } from "../pool/pool.ts";

/** Connections to replicas that a host has in place of the pool's own. */
export interface HostConnections {
  of(endpoint: Endpoint, pool: Pool): ReplicaConnections;
  /** Why none of them could be taken, where that is not a matter of how many there are. */
  readonly refusal?: RouterError | undefined;
}

/** The way by which a request came that is no HTTP request, such as a message of a WebSocket. It goes the same way as any other. */
export interface Door {
  readonly connections: HostConnections;
  /** What reads the body, in place of the parser of the request's path. */
  parserFor(parser: RouteParser | undefined): RouteParser | undefined;
}
