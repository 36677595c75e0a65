import type { Dropped } from "../decision.ts";
import type { Endpoint } from "../endpoint.ts";
import { RouterError } from "../errors.ts";
import type { Filter } from "../plugin.ts";
import type { InferenceRequest } from "../request.ts";
import type { Named } from "../snapshot.ts";
import type { Load } from "../state/load.ts";

export interface Filtered {
  readonly candidates: readonly Endpoint[];
  readonly dropped: readonly Dropped[];
  /** Set when nobody is left. */
  readonly refusal: RouterError | undefined;
}

/** Runs the filters in order and notes who dropped whom; stops at the first that leaves nobody. */
export function filter(
  request: InferenceRequest,
  filters: readonly Named<Filter>[],
  endpoints: readonly Endpoint[],
  load: Load,
): Filtered {
  if (endpoints.length === 0) return { candidates: [], dropped: [], refusal: emptyPool() };
  const dropped: Dropped[] = [];
  let candidates = endpoints;
  for (const { name, plugin } of filters) {
    const kept = plugin.filter(request, candidates, load);
    if (kept.length === candidates.length) continue;
    dropped.push({ filter: name, endpoints: candidates.filter((endpoint) => !kept.includes(endpoint)) });
    candidates = kept;
    if (kept.length === 0) return { candidates, dropped, refusal: plugin.refuse?.(request, endpoints) ?? nobodyLeft(name) };
  }
  return { candidates, dropped, refusal: undefined };
}

function emptyPool(): RouterError {
  return new RouterError("no_ready_endpoint", "The pool has no replicas; add some to the config or wait until they are found.", {
    retryAfterS: 1,
  });
}

function nobodyLeft(filterName: string): RouterError {
  return new RouterError(
    "no_ready_endpoint",
    `No replica may take this request: the filter "${filterName}" dropped the last one.`,
    {
      retryAfterS: 1,
    },
  );
}
