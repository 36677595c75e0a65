import type { Profile } from "../active-config.ts";
import type { RouterError } from "../contract/errors.ts";
import type { Filter } from "../contract/filter.ts";
import type { Picker } from "../contract/picker.ts";
import type { InferenceRequest } from "../contract/request.ts";
import type { Scorer } from "../contract/scorer.ts";
import { makeRequest, seededRandom } from "../contract/test-kit.ts";
import { decide } from "../decide/decide.ts";
import { factsOf } from "../state/facts.ts";
import type { TestPool } from "./pool.ts";

/** What a request came to with the plugin, by the endpoints' names. */
export interface Explained {
  /** The plugin's scores; null for no opinion. Empty if it is no scorer, or has no opinion on all. */
  readonly scores: Readonly<Record<string, number | null>>;
  /** Which the plugin dropped. */
  readonly dropped: readonly string[];
  /** In which order endpoints are tried, best first. */
  readonly order: readonly string[];
  /** The error that the client gets; undefined if some endpoint may serve the request. */
  readonly refusal: RouterError | undefined;
  /** How the plugin broke its contract; "" if it did not. A filter or a picker that does makes `explain` throw. */
  readonly fault: string;
}

interface ExplainOptions {
  /** What the other scorers come to, by endpoint: what a picker chooses by. */
  readonly scores?: Readonly<Record<string, number>>;
  /** Where chance comes from; the same numbers each time by default. */
  readonly random?: () => number;
}

/**
 * Decides a request with one filter, scorer or picker, by the router's own decision.
 *
 * @example
 * const { scores, order } = explain(createPlugin(definition), makeRequest(), testPool({ gpu1: { inFlight: 3 }, gpu2: {} }));
 */
export function explain(
  plugin: Filter | Scorer | Picker,
  request: InferenceRequest = makeRequest(),
  { endpoints, load }: TestPool,
  { scores = {}, random = seededRandom(1) }: ExplainOptions = {},
): Explained {
  const decision = decide(request, factsOf(endpoints), profileOf(plugin, scores), load, random);
  const [leg] = decision.legs;
  const column = leg?.scores.find(({ scorer }) => scorer === NAME);
  return {
    scores: Object.fromEntries(column === undefined ? [] : leg!.candidates.map(({ name }, at) => [name, column.values[at]!])),
    dropped: leg!.dropped.flatMap(({ endpoints: lost }) => lost.map(({ name }) => name)),
    order: leg!.order.map(({ name }) => name),
    refusal: decision.refusal,
    fault: decision.faults[0]?.message ?? "",
  };
}

const NAME = "under-test";

function profileOf(plugin: Filter | Scorer | Picker, scores: Readonly<Record<string, number>>): Profile {
  const named = <Plugin>(one: Plugin) => ({ name: NAME, type: NAME, plugin: one });
  const others: Scorer = { score: (_request, candidates) => candidates.map(({ name }) => scores[name] ?? null) };
  return {
    name: "default",
    filters: "filter" in plugin ? [named(plugin as Filter)] : [],
    scorers: [
      ...("score" in plugin ? [{ ...named(plugin), weight: 1 }] : []),
      { name: "others", type: "others", plugin: others, weight: 1 },
    ],
    picker: named("pick" in plugin ? plugin : BEST_FIRST),
    chosen: [],
    responseHeaders: [],
  };
}

/** By the totals; the pool's order among equals. */
const BEST_FIRST: Picker = {
  pick: (candidates, totals) => [...candidates.keys()].sort((a, b) => totals[b]! - totals[a]!).map((index) => candidates[index]!),
};
