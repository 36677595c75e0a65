import type { NameSet } from "./name-set.ts";

/**
 * Where an endpoint is in its life, for people to read. Code that decides whether an endpoint gets requests reads
 * `Endpoint.isAvailable`, not the phase.
 */
export type Phase = "starting" | "ready" | "not-ready" | "asleep" | "draining" | "cordoned" | "ejected";

/**
 * What the operator wants of an endpoint. cordon: no new requests but those that no available endpoint serves; drain: none, so that
 * it can be taken away.
 */
export type Intent = "serve" | "cordon" | "drain";

/**
 * What a discovery says of a replica, where it knows more than the address. leaving: it is being taken away, so it gets no new
 * requests, and those under way finish.
 */
export type Reported = "ready" | "not-ready" | "leaving";

/** What an endpoint that is not available gets all the same: requests of sessions on it, or what no available one serves. */
type StillTakes = "nothing" | "sessions" | "unserved";

/** An endpoint gets no requests for a while, because its responses were bad. */
export interface Ejection {
  /** In words, for example "5 resets in a row". */
  readonly reason: string;
  /** In milliseconds on the router's clock, like `untilMs`. */
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** A replica of the pool. */
export interface Replica {
  /** Its name, unique in the pool. Never an address, so clients may see it. */
  readonly name: string;
  readonly url: EndpointUrl;
  readonly labels: Readonly<Record<string, string>>;
}

/** Whether an endpoint may be used, and what of its state people see. */
export interface Availability {
  readonly phase: Phase;
  /** Whether it may get new requests. */
  readonly isAvailable: boolean;
  /** Which new requests it gets although it is not available; "nothing" while it is. */
  readonly stillTakes: StillTakes;
  /** It was ejected, and the next request decides whether it returns. False while that one is under way: no second one goes there. */
  readonly isOnTrial: boolean;
  /** The part of an equal share of the traffic that it should get, in (0, 1]: below 1 while it warms up. */
  readonly share: number;
  readonly intent: Intent;
  readonly ejection: Ejection | undefined;
}

/**
 * Our immutable view of one replica: plain data, frozen. When something changes, the next facts hold a new object.
 *
 * @example
 * const h100s = candidates.filter((endpoint) => endpoint.labels["gpu"] === "h100");
 */
export interface Endpoint extends Replica, Availability {
  /** Index of its numbers in the load table; stays the same while the endpoint is in the pool. */
  readonly slot: number;
  /** Number of the replica process that the slot's numbers are about; grows when another process takes the slot. */
  readonly generation: number;
  /** Undefined if the discovery says nothing of its state, as most do: then its probes alone tell. */
  readonly reported?: Reported | undefined;
  /** Models and adapters that it serves, from its own list; empty before the first read. */
  readonly models: NameSet;
  /** What its list says of them, by name; undefined if nothing. */
  readonly modelCards?: ModelCards | undefined;
}

/** What a replica's list says of one of its models; what is left out it did not say. */
export interface ModelCard {
  /** The most tokens of a prompt and its answer together. An adapter has those of its base model. */
  readonly contextTokens?: number | undefined;
  /** Where the engine loaded it from. */
  readonly root?: string | undefined;
  /** The base model of an adapter; null for a base model. */
  readonly parent?: string | null | undefined;
}

export type ModelCards = Readonly<Record<string, ModelCard>>;

/** The parts of a replica's address. */
export interface EndpointUrl {
  readonly href: string;
  readonly hostname: string;
  readonly port: number;
  readonly isTls: boolean;
  /** Value of the Host header, without the port if it is the scheme's default. */
  readonly hostHeader: string;
  /** Prefix of every API path, without a trailing slash; usually "". */
  readonly basePath: string;
}

/** What discovery reports about a replica. */
export interface EndpointSpec {
  readonly name: string;
  readonly url: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Left out: nothing is known of its state. */
  readonly reported?: Reported | undefined;
  /** Endpoints of the list, by name, that take its place: it is taken away once probes find all of them ready, or this one not. */
  readonly replacedBy?: readonly string[] | undefined;
}

/** Whether its models can be asked for: it is available, or takes what no available endpoint serves. */
export function isServing({ isAvailable, stillTakes }: Availability): boolean {
  return isAvailable || stillTakes === "unserved";
}
