import type { Endpoint } from "../../core/contract/endpoint.ts";
import type { Load } from "../../core/state/load.ts";

/** The confidence of a scorer that reads scraped values: full while pages come in time, then less and less. */
export function scrapedConfidence({ slot }: Endpoint, load: Load): number {
  return load.freshness[slot]!;
}
