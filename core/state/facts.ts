import type { Endpoint } from "../contract/endpoint.ts";
import { type NameSet, nameSet } from "../contract/name-set.ts";

/** What is known of the pool at one moment: plain, frozen data. A decision takes the newest when it is made. */
export interface Facts {
  readonly endpoints: readonly Endpoint[];
  /** Models and adapters that available endpoints serve. */
  readonly served: NameSet;
}

/** Freezes the list, so that no plugin can change what others read. */
export function factsOf(endpoints: readonly Endpoint[]): Facts {
  const served = endpoints.filter(({ isAvailable }) => isAvailable).flatMap(({ models }) => [...models]);
  return { endpoints: Object.freeze([...endpoints]), served: nameSet(served) };
}
