import type { Time } from "./clock.ts";
import type { DiscoveryTrouble } from "./discovery.ts";
import type { Endpoint } from "./endpoint.ts";
import type { LoadView } from "./load-view.ts";
import type { MetricFamily } from "./metric-family.ts";
import type { TargetMapping } from "./rewriter.ts";

/**
 * The running router, for an observer's page, by part: read when the page is requested, never while a request is routed.
 *
 * @example
 * pages: [
 *   {
 *     path: "/in-flight",
 *     contentType: "text/plain",
 *     render: ({ pool }) => pool.endpoints.map(({ name, slot }) => `${name} ${pool.load.inFlight(slot)}`).join("\n"),
 *   },
 * ]
 */
export interface RouterView {
  readonly clock: Time;
  readonly config: ConfigView;
  readonly pool: PoolView;
  /** Pools beside the router's own, by their names; absent where there are none. */
  readonly furtherPools?: ReadonlyMap<string, PoolView> | undefined;
  readonly plugins: PluginsView;
  readonly process: ProcessView;
  readonly tls: TlsView;
  /** What the router's features count, such as mirrors and guards. */
  families(): readonly MetricFamily[];
}

interface ConfigView {
  /** The name of the router's own pool. */
  readonly pool: string;
  /** 1 at the start, and one more with each config that took effect since. */
  readonly generation: number;
  /** False while the last attempt to change the config was refused, so that the one before runs. */
  readonly isLastReloadApplied: boolean;
  /** When the last attempt succeeded, in seconds since 1970; the start counts as one. */
  readonly confirmedAtS: number;
  /** Attempts so far to change the config, by how they ended; unchanged: nothing in it was different. */
  readonly reloads: { readonly applied: number; readonly unchanged: number; readonly refused: number };
  /** What the rewriters do to model names. */
  readonly mappings: readonly TargetMapping[];
}

export interface PoolView {
  /** Every endpoint of the pool. */
  readonly endpoints: readonly Endpoint[];
  /** Numbers as of now. */
  readonly load: LoadView;
  /** Undefined when no plugin reads prefixes. */
  readonly prefixIndex: PrefixIndexSize | undefined;
  /** Whether so many endpoints fail that all that are up are used. */
  readonly isPanicking: boolean;
  /** The discoveries that can't know the replicas as they are now, by their names. */
  readonly discoveryTroubles: ReadonlyMap<string, DiscoveryTrouble>;
  /** Open connections to the endpoint, busy and idle. */
  connectionsTo(endpoint: Endpoint): number;
  /** Ejections of the endpoint so far. */
  ejectionsOf(endpoint: Endpoint): number;
  /** Why the endpoint's last probe failed; "" after a success. */
  probeFailure(endpoint: Endpoint): string;
}

interface PluginsView {
  /** How often each plugin broke its contract on a request, by its name; without those that never did. */
  readonly faults: ReadonlyMap<string, number>;
  readonly times: readonly PluginTime[];
}

interface ProcessView {
  /** When the router started, in seconds since 1970. */
  readonly startedAtS: number;
  /** Lines of the access log and the operator's log that were dropped because nobody read them in time. */
  readonly droppedLogLines: number;
  /** How often there were times in which no more client connections were taken. */
  readonly acceptPauses: number;
  /** What request bodies under way and unread responses hold together. */
  readonly memory: MemoryUse;
  /** What the process uses now; NaN for what this system does not tell. Asks the system with each call. */
  usage(): ProcessUsage;
}

/** What a filter, scorer or picker took in the requests in which it was timed, since the config took effect. */
export interface PluginTime {
  readonly kind: "filter" | "scorer" | "picker";
  readonly name: string;
  readonly timedRequests: number;
  readonly timedMs: number;
  /** It takes more time per request than it may. */
  readonly isSlow: boolean;
  /** A slow scorer that is not asked any more. */
  readonly hasNoVote: boolean;
}

export interface ProcessUsage {
  /** User and system time. */
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly heapUsedBytes: number;
  readonly heapBytes: number;
  readonly openFiles: number;
  readonly maxOpenFiles: number;
}

/** What the router shows of itself over TLS. */
export interface TlsView {
  readonly certificates: readonly CertificateView[];
  /** Handshakes with clients that failed so far, by port and reason. */
  readonly failures: readonly { readonly port: string; readonly reason: string; readonly count: number }[];
}

export interface CertificateView {
  /** Where it is shown: "listen", "admin", "pool" (to replicas) or "plugins" (to the servers of sources). */
  readonly port: string;
  readonly file: string;
  /** Host names that it is for. */
  readonly names: readonly string[];
  /** In seconds since 1970. */
  readonly expiresAtS: number;
  /** When no more than a tenth of its time is left. */
  readonly renewAtS: number;
  /** Why the file can't be used as it is now, so that what it held before is shown; "" if it can. */
  readonly fault: string;
}

export interface MemoryUse {
  readonly limitBytes: number;
  readonly bodyBytes: number;
  readonly unreadBytes: number;
  /** Bodies refused and uploads cut so far because the memory was used up. */
  readonly refusals: number;
}

export interface PrefixIndexSize {
  readonly entries: number;
  readonly maxEntries: number;
  /** Bytes reserved in total; the system commits memory only as it is used. */
  readonly bytes: number;
}
