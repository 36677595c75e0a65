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
  dispose?(): void;
}
