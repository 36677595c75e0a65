/**
 * The numbers of every endpoint at the moment of one decision, by slot. Reading changes nothing. What the router counts itself
 * is exact; scraped values are NaN until the replica's metrics were read.
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
  /** Prompt tokens sent and not yet answered by a first byte, minus those believed cached. */
  prefillTokens(slot: number): number;
  /** The same, less what the endpoint has worked off by now at its measured speed. */
  remainingPrefill(slot: number): number;
  /** How many prompts that is. */
  waitingPrompts(slot: number): number;
  /** Prompt tokens that the endpoint works off in a millisecond, measured. */
  prefillRate(slot: number): number;
  /** Requests waiting in the replica's own queue, scraped. */
  waiting(slot: number): number;
  /** Requests running in the replica, scraped. */
  running(slot: number): number;
  /** KV-cache utilization in [0, 1], scraped. */
  kvUsage(slot: number): number;
  /** When the scraped values were read, in milliseconds on the router's clock; NaN for never. */
  scrapedAtMs(slot: number): number;
  /** How much the scraped values still count, in [0, 1]: 1 while they come in time, then less and less; 0 without any. */
  freshness(slot: number): number;
  /** Whether its replica has just asked to be left alone, by a 503 or 429. */
  isPaused(slot: number): boolean;
  /** Which adapters the endpoint has, as far as its replica tells; undefined where it tells nothing. */
  adapters(slot: number): AdapterFacts | undefined;
}

/** What a replica tells of its adapters. */
export interface AdapterFacts {
  /** Those of its models that are adapters; undefined while no list tells them from base models. */
  readonly names?: ReadonlySet<string> | undefined;
  /** Those with a request under way; undefined while no metrics tell. */
  readonly use?: AdapterUse | undefined;
}

export interface AdapterUse {
  readonly running: ReadonlySet<string>;
  readonly waiting: ReadonlySet<string>;
  /** Adapters that can run at the same time. */
  readonly max: number;
}

/** What a replica's metrics say; a value left out is unknown. */
export interface ScrapedValues {
  readonly waiting?: number;
  readonly running?: number;
  readonly kvUsage?: number;
}
