import type { Clock } from "./clock.ts";
import type { Endpoint } from "./endpoint.ts";
import type { LoadView } from "./load-view.ts";
import type { TargetMapping } from "./rewriter.ts";

/** The running router as an observer's page may show it: read when somebody asks for the page, never on a request's way. */
export interface RouterView {
  readonly clock: Pick<Clock, "now" | "wall">;
  /** When the router started, in seconds since 1970. */
  readonly startedAtS: number;
  /** Every endpoint of the pool. */
  readonly endpoints: readonly Endpoint[];
  /** Numbers as of now. */
  readonly load: LoadView;
  /** What the rewriters do to model names. */
  readonly mappings: readonly TargetMapping[];
  /** Undefined when no plugin reads prefixes. */
  readonly prefixIndex: PrefixIndexSize | undefined;
  /** Open connections to the endpoint, busy and idle. */
  connectionsTo(endpoint: Endpoint): number;
  /** Ejections of the endpoint so far. */
  ejectionsOf(endpoint: Endpoint): number;
  /** What the endpoint's last probe failed with; "" after a success. */
  probeFailure(endpoint: Endpoint): string;
}

interface PrefixIndexSize {
  readonly entries: number;
  readonly maxEntries: number;
  /** What is reserved, all in all; the system commits it as it is used. */
  readonly bytes: number;
}
