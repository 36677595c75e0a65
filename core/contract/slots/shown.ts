import type { MetricFamily } from "../metric-family.ts";
import type { Outcome } from "../outcome.ts";
import type { RouterView } from "../router-view.ts";

/**
 * What people see of a feature. All of it changes nothing. `explain` is asked for when a request has ended, behind `settled`; the rest
 * when somebody looks.
 *
 * @example
 * status: (rule) => (rule === undefined ? { budget: { leftTokens: 1_000 } } : {})
 */
export interface ShownSlots {
  /**
   * What it adds to the status of the router; of a rule, where one is named; or of a rule's target. What a feature that does not come
   * with the router adds stands under `features`, by its name.
   */
  status?(rule: string | undefined, target: string | undefined): object;
  /** What needs an operator's attention, in sentences. */
  warnings?(view: RouterView): readonly string[];
  metrics?(view: RouterView): readonly MetricFamily[];
  /** What it says of a request that has ended, in sentences, for its explanation and the page. */
  explain?(outcome: Outcome): readonly string[];
  /** What holds now of a rule, in sentences, for explanations. */
  notes?(rule: string): readonly string[];
}
