import type { EndpointSpec } from "./endpoint.ts";

/**
 * Which replicas exist?
 *
 * @example
 * create: ({ urls }) => ({
 *   start: (found) => found(urls.map((url) => ({ name: url, url, labels: {} }))),
 * })
 */
export interface Discovery {
  /** Calls `found` with the whole list now and whenever it changes, until the host's signal aborts. */
  start(found: (specs: readonly EndpointSpec[]) => void): void;
  /** What keeps it from knowing the replicas as they are now; undefined while nothing does. What it told last stays. */
  readonly trouble?: DiscoveryTrouble | undefined;
  dispose?(): void;
}

export interface DiscoveryTrouble {
  /** A sentence that says what to do, where that is known. */
  readonly text: string;
  /** When it knew last, on the host's clock; NaN if it never did. */
  readonly sinceMs: number;
}
