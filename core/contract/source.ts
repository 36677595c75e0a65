import type { AdapterUse, ScrapedValues } from "./load-view.ts";

/**
 * What is true of a replica now? The prober fetches, the source reads.
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
  /** The pause while the replica has no request in flight; without it, `periodMs`. */
  readonly idlePeriodMs?: number;
  /** Facts from a body that came with status 200. Throws on one it can't read. */
  read(body: string): EndpointFacts;
  dispose?(): void;
}

export interface EndpointFacts extends ScrapedValues {
  readonly models?: readonly string[];
  /** Those of the models that are adapters. */
  readonly adapters?: readonly string[];
  readonly adapterUse?: AdapterUse;
  /** Tokens that the KV cache holds. */
  readonly kvCapacityTokens?: number;
}
