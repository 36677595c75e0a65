import type { NameSet } from "./name-set.ts";

/**
 * Who asks: what the router knows of a client by its key. Plain data that the log and the metrics may show; the key is in none of it.
 *
 * @example
 * const isOurs = outcome.principal?.tenant === "search";
 */
export interface Principal {
  /** Limits and counts are kept by this name. The router puts the authenticator's name and a colon before both names, but for keys. */
  readonly name: string;
  /** Those who share prompts and a fair share; the name where nothing else is said. */
  readonly tenant: string;
  /** Requests of a higher one go first. */
  readonly priority: number;
  /** The models that it may ask for; undefined for all. */
  readonly models: NameSet | undefined;
  readonly limits: PrincipalLimits;
}

/** What one principal may use; what is left out has no bound. */
export interface PrincipalLimits {
  readonly requestsPerMinute?: number | undefined;
  /** Prompt and output together. */
  readonly tokensPerMinute?: number | undefined;
  /** Requests under way at once. */
  readonly concurrency?: number | undefined;
}
