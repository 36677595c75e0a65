import type { Profile } from "../active-config.ts";
import type { Dropped } from "../contract/decision.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import { RouterError } from "../contract/errors.ts";
import type { LoadView } from "../contract/load-view.ts";
import type { Random } from "../contract/profile-plugin.ts";
import type { InferenceRequest } from "../contract/request.ts";
import { ignoresPromise } from "../contract/returned-promise.ts";
import { failedPlugin, refusalBy } from "../plugin-watch/plugin-faults.ts";

export interface Filtered {
  readonly candidates: readonly Endpoint[];
  readonly dropped: readonly Dropped[];
  /** Those that only wishes dropped. */
  readonly spares: readonly Endpoint[];
  /** Set when no candidate is left. */
  readonly refusal: RouterError | undefined;
}

const NONE: readonly never[] = [];

/**
 * Runs the filters in order and records which endpoints each one dropped; stops when no candidate is left. Plugins get a copy of the
 * list, so that none can change what the others read: frozen lists cost more, on Bun as much as the rest of the decision. The next
 * filter gets the same copy if this one has returned it whole: then it is known to be unchanged. What a wish has dropped is kept as a
 * spare as long as the needs behind it keep it. Where no candidate is left after a wish, the needs decide alone.
 * Throws RouterError (plugin_fault) when a filter throws or returns something other than a part of its candidates.
 */
export function filter(
  request: InferenceRequest,
  filters: Profile["filters"],
  endpoints: readonly Endpoint[],
  load: LoadView,
  random: Random,
  clientModels: readonly string[] = [],
): Filtered {
  if (endpoints.length === 0) return { candidates: [], dropped: [], spares: NONE, refusal: emptyPool() };
  const dropped: Dropped[] = [];
  let spares: readonly Endpoint[] = NONE;
  let hasWished = false;
  let candidates = endpoints;
  let copy = candidates.slice();
  for (const named of filters) {
    const { name } = named;
    const givesWay = isWish(named);
    if (spares.length > 0 && !givesWay) spares = sparesLeft(named, request, spares, load, random);
    const kept = keptBy(named, request, copy, load, random);
    const lost = droppedOf(name, candidates, kept);
    if (lost.length === 0) {
      if (kept !== copy) copy = candidates.slice();
      continue;
    }
    if (givesWay) {
      hasWished = true;
      spares = spares.length === 0 ? lost : [...spares, ...lost];
    }
    if (kept.length === 0 && hasWished) return filter(request, filters.filter(isNeed), endpoints, load, random, clientModels);
    dropped.push({ filter: name, endpoints: lost });
    candidates = kept.slice();
    copy = kept.slice();
    if (kept.length === 0)
      return { candidates, dropped, spares: NONE, refusal: refusalOf(named, request, endpoints, clientModels) };
  }
  return { candidates, dropped, spares, refusal: undefined };
}

const isNeed = (named: Profile["filters"][number]) => !isWish(named);

function isWish(named: Profile["filters"][number]): boolean {
  try {
    return named.plugin.expresses === "wish";
  } catch (thrown) {
    throw failedPlugin("filter", named, thrown);
  }
}

/** The spares that a need keeps. */
function sparesLeft(
  named: Profile["filters"][number],
  request: InferenceRequest,
  spares: readonly Endpoint[],
  load: LoadView,
  random: Random,
): readonly Endpoint[] {
  const kept = keptBy(named, request, spares.slice(), load, random);
  return droppedOf(named.name, spares, kept).length === 0 ? spares : kept.slice();
}

function keptBy(
  named: Profile["filters"][number],
  request: InferenceRequest,
  candidates: readonly Endpoint[],
  load: LoadView,
  random: Random,
): readonly Endpoint[] {
  try {
    return named.plugin.filter(request, candidates, load, random);
  } catch (thrown) {
    throw failedPlugin("filter", named, thrown);
  }
}

/** The candidates that a filter did not keep. Throws unless `kept` is a part of the candidates in their order. */
function droppedOf(filterName: string, candidates: readonly Endpoint[], kept: readonly Endpoint[]): readonly Endpoint[] {
  if (Array.isArray(kept)) {
    let next = 0;
    let lost: Endpoint[] | undefined;
    for (const candidate of candidates) {
      if (kept[next] === candidate) next += 1;
      else if (lost === undefined) lost = [candidate];
      else lost.push(candidate);
    }
    if (next === kept.length) return lost ?? NONE;
  }
  ignoresPromise(kept);
  const fault = { plugin: filterName, text: "A filter must return some of the candidates in their order" };
  throw new RouterError(
    "plugin_fault",
    `The filter "${filterName}" must return some of the candidates in their order; fix the plugin.`,
    { fault },
  );
}

/** What the filter says to the client when it has dropped the last candidate. */
function refusalOf(
  { name, plugin, file }: Profile["filters"][number],
  request: InferenceRequest,
  endpoints: readonly Endpoint[],
  clientModels: readonly string[],
): RouterError {
  let refusal: unknown;
  try {
    refusal = plugin.refuse?.(request, endpoints, clientModels.slice()) ?? noneLeft(name);
  } catch (thrown) {
    throw failedPlugin("filter", { name, file }, thrown, "failed to refuse this request");
  }
  if (refusal instanceof RouterError) return refusalBy("filter", { name, file }, refusal, "failed to refuse this request");
  ignoresPromise(refusal);
  const fault = { plugin: name, text: "A filter must refuse with a RouterError" };
  throw new RouterError("plugin_fault", `The filter "${name}" must refuse with a RouterError; fix the plugin.`, { fault });
}

function emptyPool(): RouterError {
  const message = "The pool has no replicas; add some to the config, or wait until discovery finds some.";
  return new RouterError("no_ready_endpoint", message, { retryAfterS: 1 });
}

function noneLeft(filterName: string): RouterError {
  const message = `No replica may take this request: the filter "${filterName}" dropped the last candidate; try again shortly.`;
  return new RouterError("no_ready_endpoint", message, { retryAfterS: 1 });
}
