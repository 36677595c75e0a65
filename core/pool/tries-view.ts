import type { Endpoint } from "../contract/endpoint.ts";
import type { WatchedTry } from "../wire/watched-try.ts";

/** The progress of tries, as a judge of the endpoints sees it. */
export interface TriesView {
  /** When the endpoint last sent bytes of tokens, on the router's clock, at most a sweep too early; -Infinity before the first. */
  lastByteMs(endpoint: Endpoint): number;
  /** What is under way at the endpoint, and connections that carry nothing now. */
  triesAt(endpoint: Endpoint): readonly WatchedTry[];
}
