import type { Endpoint } from "../contract/endpoint.ts";
import { type NameSet, nameSet } from "../contract/name-set.ts";

/** What is known about the pool at one moment: plain, frozen data. Each decision reads the newest facts. */
export interface Facts {
  readonly endpoints: readonly Endpoint[];
  /** Models and adapters that available endpoints serve. */
  readonly served: NameSet;
}

/** Makes facts; the list is frozen, so that no plugin can change what others read. */
export function factsOf(endpoints: readonly Endpoint[]): Facts {
  const served = endpoints.filter(({ isAvailable }) => isAvailable).flatMap(({ models }) => [...models]);
  return { endpoints: Object.freeze([...endpoints]), served: nameSet(served) };
}
