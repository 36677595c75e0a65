import type { Endpoint } from "../../core/contract/endpoint.ts";
import type { LoadView } from "../../core/contract/load-view.ts";

/** The confidence of a scorer that reads scraped values: 1 while metrics are read in time, then less and less. */
export function scrapedConfidence({ slot }: Endpoint, load: LoadView): number {
  return load.freshness(slot);
}
