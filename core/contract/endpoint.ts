/** Where a replica is in its life, as the prober sees it. */
export type Phase = "starting" | "ready" | "not-ready";

/** Our immutable view of one replica. A new fact makes a new endpoint in the next snapshot. */
export interface Endpoint {
  /** What people call it; unique in the pool. Never an address, so it may be shown to clients. */
  readonly name: string;
  /** Index of its numbers in the load table; stays the same while the endpoint is known. */
  readonly slot: number;
  readonly url: EndpointUrl;
  readonly labels: Readonly<Record<string, string>>;
  readonly phase: Phase;
  /** Models and adapters it serves, by its own list. Empty until the list was read once. */
  readonly models: ReadonlySet<string>;
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
