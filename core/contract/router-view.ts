import type { Snapshot } from "../active-config.ts";
import type { Load } from "../state/load.ts";
import type { PrefixIndexStats } from "../state/prefix-index.ts";
import type { Clock } from "./clock.ts";
import type { Endpoint } from "./endpoint.ts";

/** The running router as the pages of the admin port show it: read when a page is asked for, never on a request's way. */
export interface RouterView {
  readonly clock: Clock;
  readonly snapshot: Snapshot;
  readonly load: Load;
  /** Undefined when no plugin reads prefixes. */
  readonly prefixIndex: PrefixIndexStats | undefined;
  /** Open connections to the endpoint, busy and idle. */
  connectionsTo(endpoint: Endpoint): number;
  /** What the endpoint's last probe failed with; "" after a success. */
  probeFailure(endpoint: Endpoint): string;
}
