import { type Endpoint, isServing } from "../contract/endpoint.ts";
import { type NameSet, nameSet } from "../contract/name-set.ts";

/** What is known about the pool at one moment: plain data that nothing changes. Each decision reads the newest facts. */
export interface Facts {
  readonly endpoints: readonly Endpoint[];
  /** Models and adapters that can be asked for. */
  readonly served: NameSet;
}

export function factsOf(endpoints: readonly Endpoint[]): Facts {
  const served = endpoints.filter(isServing).flatMap(({ models }) => [...models]);
  return { endpoints: [...endpoints], served: nameSet(served) };
}
