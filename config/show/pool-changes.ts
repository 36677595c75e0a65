import type { PoolPlan } from "../../core/router-config.ts";
import type { SectionFeature } from "../feature.ts";
import { named } from "../read/differences.ts";

type Shown = Pick<PoolPlan["plan"], "config" | "definitions"> & { readonly sections: readonly SectionFeature[] };
type Compare = (was: Shown, is: Shown) => readonly string[];

/** What another config changes of the pools beside the router's own, in words, each on one line. `compare` compares what is in them. */
export function poolChanges(before: readonly PoolPlan[], after: readonly PoolPlan[], compare: Compare): readonly string[] {
  const gone = before.filter(({ name }) => !after.some((pool) => pool.name === name));
  return [
    ...gone.map(({ name }) => `pool ${name} removed`),
    ...after.flatMap((pool) => {
      const was = before.find(({ name }) => name === pool.name);
      if (was === undefined) return [`pool ${pool.name} added`];
      const changes = [...named("selectors", selectorsOf(was), selectorsOf(pool)), ...compare(shown(was), shown(pool))];
      return changes.map((change) => `pool ${pool.name}: ${change}`);
    }),
    ...orderChanges(before, after),
  ];
}

function selectorsOf({ models, headers, keys, fallback }: PoolPlan) {
  return { models, headers: Object.fromEntries(headers), keys, fallback };
}

/** Its sections come from the same features as the router's. */
function shown({ plan }: PoolPlan): Shown {
  return { ...plan, sections: plan.sections as readonly SectionFeature[] };
}

/** The first pool that asks for a request gets it. */
function orderChanges(before: readonly PoolPlan[], after: readonly PoolPlan[]): readonly string[] {
  const inBoth = (pools: readonly PoolPlan[], others: readonly PoolPlan[]) =>
    pools.map(({ name }) => name).filter((name) => others.some((pool) => pool.name === name));
  const order = inBoth(after, before);
  return inBoth(before, after).join() === order.join() ? [] : [`the order of the pools: ${order.join(", ")}`];
}
