import type { Named } from "../active-config.ts";
import type { Filter } from "../contract/filter.ts";
import type { Picker } from "../contract/picker.ts";
import type { Definition } from "../contract/plugin.ts";
import type { Scorer } from "../contract/scorer.ts";
import { createPlugin, seededRandom } from "../contract/test-kit.ts";
import { filter } from "../decide/filter.ts";
import { pick } from "../decide/pick.ts";
import { score } from "../decide/score.ts";
import { type Situation, situations } from "./situations.ts";

type Checked = "filter" | "scorer" | "picker";

/**
 * Checks what each filter, scorer and picker promises, in pools of every size with usual, unknown and extreme numbers: scores are in
 * [0, 1], one for each candidate; a filter keeps a part of the candidates in their order; a picker's order has each candidate once; the
 * same inputs give the same result, and nothing that is handed in is changed. Throws an Error that says where it is broken.
 *
 * @example
 * test("keeps its contract", () => checkProperties(myScorer, { label: "gpu" }));
 */
export function checkProperties(definition: Definition<Checked>, parameters: unknown = {}): void {
  const plugin = createPlugin(definition, parameters);
  const named = { name: definition.type, type: definition.type, plugin };
  for (const situation of situations()) {
    try {
      const [first, second] = [0, 1].map(() => JSON.stringify(CHECKS[definition.kind](named as never, situation)));
      if (first !== second) throw new Error("The same inputs gave another result; use no other source of chance than random");
    } catch (cause) {
      const { fault, message } = cause as Error & { readonly fault?: { readonly text: string } };
      throw new Error(`The ${definition.kind} "${definition.type}", with ${situation.name}: ${fault?.text ?? message}`, {
        cause,
      });
    }
  }
}

/** Asks the plugin as the decision does, and returns what it came to, for comparison. */
const CHECKS = {
  scorer(named: Named<Scorer>, { request, candidates, load }: Situation) {
    const { columns, faults } = score(request, [{ ...named, weight: 1 }], candidates, load);
    if (faults[0] !== undefined) throw new Error(faults[0].message);
    return columns.map(({ values, confidences = [] }) => [Array.from(values), Array.from(confidences)]);
  },
  filter(named: Named<Filter>, { request, candidates, load }: Situation) {
    const kept = filter(request, [named], candidates, load, seededRandom(1));
    return [kept.candidates.map(({ name }) => name), kept.refusal?.message];
  },
  picker(named: Named<Picker>, { candidates }: Situation) {
    if (candidates.length === 0) return [];
    return TOTALS.map((total) => {
      const order = pick(named, candidates, Object.freeze(candidates.map(total)), seededRandom(1));
      if (order.length < candidates.length) throw new Error("An order must have each candidate: the last ones are spares");
      return order.map(({ name }) => name);
    });
  },
} as const;

/** What scorers may come to: no opinion at all, all the best, each another, some equal, hardly anything. */
const TOTALS: readonly ((candidate: unknown, index: number) => number)[] = [
  () => 0,
  () => 1,
  (_, index) => ((index * 37) % 101) / 101,
  (_, index) => (index % 3) / 2,
  (_, index) => ((index * 37) % 101) * 1e-302,
];
