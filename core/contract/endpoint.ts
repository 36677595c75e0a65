import type { NameSet } from "./name-set.ts";

/**
 * Where an endpoint is in its life, for people to read. Whether it gets requests is `Endpoint.isAvailable`: code that decides
 * reads that, not the phase.
 */
export type Phase = "starting" | "ready" | "not-ready" | "draining" | "ejected";

/** What the operator wants of an endpoint. cordon: no new requests; drain: the same, until it can be taken away. */
export type Intent = "serve" | "cordon" | "drain";

/** An endpoint is out of the pool for a while because of what its responses were. */
export interface Ejection {
  /** In words: "5 resets in a row". */
  readonly reason: string;
  /** On the router's clock. */
  readonly sinceMs: number;
  readonly untilMs: number;
}

/**
 * Our immutable view of one replica: plain data, frozen. A new fact makes a new endpoint in the next facts.
 *
 * @example
 * const h100s = candidates.filter((endpoint) => endpoint.labels["gpu"] === "h100");
 */
export interface Endpoint {
  /** What people call it; unique in the pool. Never an address, so it may be shown to clients. */
  readonly name: string;
  /** Index of its numbers in the load table; stays the same while the endpoint is known. */
  readonly slot: number;
  /** Which replica process the slot's numbers are about: grows when another one takes the slot. */
  readonly generation: number;
  readonly url: EndpointUrl;
  readonly labels: Readonly<Record<string, string>>;
  readonly phase: Phase;
  /** Whether it may get new requests. */
  readonly isAvailable: boolean;
  /** It was ejected, and one request decides whether it returns: no second one goes there meanwhile. */
  readonly isOnTrial: boolean;
  /** Of an equal share of the traffic, how much it should get, in (0, 1]: below 1 while it warms up. */
  readonly share: number;
  readonly intent: Intent;
  readonly ejection: Ejection | undefined;
  /** Models and adapters it serves, by its own list. Empty until the list was read once. */
  readonly models: NameSet;
}

/** A replica's address, taken apart once. */
export interface EndpointUrl {
  readonly href: string;
  readonly hostname: string;
  readonly port: number;
  readonly isTls: boolean;
  /** Value of the Host header: the port is left out where it is the scheme's own. */
  readonly hostHeader: string;
  /** Prefix before the API path, without a trailing slash: "" for most. */
  readonly basePath: string;
}

/** What discovery says of a replica. */
export interface EndpointSpec {
  readonly name: string;
  readonly url: string;
  readonly labels: Readonly<Record<string, string>>;
}
