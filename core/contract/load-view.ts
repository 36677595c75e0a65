/**
 * The numbers of every endpoint at the moment of one decision, by slot. Reading changes nothing. Numbers that the router counts
 * itself are exact; scraped values are NaN before the replica's metrics are read.
 *
 * @example
 * // Fewest requests in flight scores highest.
 * score: (_request, candidates, load) => candidates.map(({ slot }) => 1 / (1 + load.inFlight(slot)))
 */
export interface LoadView {
  /** The moment, in milliseconds on the router's clock. */
  readonly nowMs: number;
  /** Requests sent and not yet ended. */
  inFlight(slot: number): number;
  /** Tokens of prompts that were sent and have no first response byte yet, minus those believed cached. */
  prefillTokens(slot: number): number;
  /** The same, minus what the endpoint has processed by now at its measured speed. */
  remainingPrefill(slot: number): number;
  /** The number of prompts that `remainingPrefill` counts. */
  waitingPrompts(slot: number): number;
  /** Prompt tokens that the endpoint processes per millisecond, measured. */
  prefillRate(slot: number): number;
  /** Whether `prefillRate` comes from measurements, here or at the pool's other endpoints; false for the first guess. */
  isRateKnown(slot: number): boolean;
  /** Requests waiting in the replica's own queue, scraped. */
  waiting(slot: number): number;
  /** Requests running in the replica, scraped. */
  running(slot: number): number;
  /** KV-cache utilization in [0, 1], scraped. */
  kvUsage(slot: number): number;
  /** Other scraped numbers by their names, as sources give them (`GPUUtilization`); empty if there are none. */
  attributes(slot: number): ReadonlyMap<string, number>;
  /** When the scraped values were read, in milliseconds on the router's clock; NaN for never. */
  scrapedAtMs(slot: number): number;
  /** How much the scraped values count, in [0, 1]: 1 while they are read in time, then less and less; 0 without any. */
  freshness(slot: number): number;
  /** Whether its replica has just asked to be left alone: by a 503 or 429, or by metrics that count refused or preempted requests. */
  isPaused(slot: number): boolean;
  /** Whether it runs as many requests as it can or may; known only where requests wait for room (`spec.admission`), else false. */
  isFull(slot: number): boolean;
  /** What the endpoint's replica reports about its adapters; undefined if nothing. */
  adapters(slot: number): AdapterFacts | undefined;
  /** What is known of a name that the endpoint does not list; undefined if nothing. */
  unlisted(slot: number, name: string): UnlistedName | undefined;
  /**
   * Milliseconds that loading an adapter takes the endpoint's engine, and costs those whose adapter gives way; 0 where it is believed to be
   * loaded, and where nothing is known. Of one that the endpoint does not list, only what it costs others: see `adapterLoadMs`.
   */
  adapterMs(slot: number, name: string): number;
  /** How long a replica takes to load an adapter, in milliseconds, as learned. */
  readonly adapterLoadMs: number;
}

/** A name that requests were sent with to an endpoint that does not list it. */
export interface UnlistedName {
  /**
   * loading: a request waits until its replica has loaded it. served: it was loaded, and the list will show it. refused: the
   * replica responded with 404, so it gets no further request for the name for a while.
   */
  readonly standing: "loading" | "served" | "refused";
  /** Milliseconds until the load is probably done, or until the name may be tried there again. */
  readonly leftMs: number;
}

/** What a replica reports about its adapters. */
export interface AdapterFacts {
  /** The models that are adapters; undefined if no model list distinguishes them from base models. */
  readonly names?: ReadonlySet<string> | undefined;
  /** The adapters with requests under way; undefined if the metrics do not report them. */
  readonly use?: AdapterUse | undefined;
}

export interface AdapterUse {
  readonly running: ReadonlySet<string>;
  readonly waiting: ReadonlySet<string>;
  /** Adapters that can run at the same time. */
  readonly max: number;
}

/** Values from a replica's metrics; a value left out is unknown. */
export interface ScrapedValues {
  readonly waiting?: number;
  readonly running?: number;
  readonly kvUsage?: number;
  /** Further numbers, by names of the source's own. */
  readonly attributes?: Readonly<Record<string, number>>;
}

/** Of a replica that reports none. */
export const NO_ATTRIBUTES: ReadonlyMap<string, number> = new Map();
