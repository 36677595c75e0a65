import type { EndpointUrl, ModelCards, Replica } from "./endpoint.ts";
import type { AdapterUse, ScrapedValues } from "./load-view.ts";

/**
 * What is the state of a replica now? The prober fetches `path` from the replica, the source reads the body.
 *
 * @example
 * create: () => ({
 *   path: "/slots",
 *   periodMs: 1000,
 *   read: (body) => ({ running: JSON.parse(body).filter((slot) => slot.is_processing).length }),
 * })
 */
export interface Source {
  readonly path: string;
  readonly periodMs: number;
  /** The period while the replica has no request in flight; `periodMs` by default. */
  readonly idlePeriodMs?: number;
  /** Who has the path, if it is not the replica itself. */
  readonly origin?: SourceOrigin;
  /** Returns facts from a body that came with status 200. Throws for a body that it can't read. */
  read(body: string, replica: Replica): EndpointFacts;
  dispose?(): void;
}

/** Another server that knows the replica's numbers, such as an exporter beside it. It gets no key that the router has for replicas. */
export interface SourceOrigin {
  /** In a few words, where it is. Sources with the same origin and path are fetched together. */
  readonly name: string;
  /** It is on the replica's host and belongs to it: TLS to it is as to the replica. */
  readonly isOnReplica?: boolean;
  /** The plugin (`host.name`) whose definition says how TLS to it is, by its `tls`. With neither, the system's authorities decide. */
  readonly tlsOfPlugin?: string | undefined;
  /** Throws an Error that says what to change if the replica has no such server. */
  urlFor(replica: Replica): EndpointUrl;
}

export interface EndpointFacts extends ScrapedValues {
  readonly models?: readonly string[];
  /** The models that are adapters. */
  readonly adapters?: readonly string[];
  /** What is known of the models, by name. */
  readonly modelCards?: ModelCards;
  /** Its engine is up and says that it sleeps, so that it can't generate; left out if it does not say. */
  readonly isAsleep?: boolean;
  readonly adapterUse?: AdapterUse;
  /** Capacity of the KV cache in tokens. */
  readonly kvCapacityTokens?: number;
  /** What of the body made no sense and was left out, in a sentence for the operator that quotes none of it. */
  readonly leftOut?: string;
  /** Requests that its engine has refused or put back for want of room since its start. A rise counts as a 503 does. */
  readonly setbacks?: number;
}
