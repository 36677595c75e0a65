import type { MetricFamily } from "../../core/contract/metric-family.ts";

/** What the features of one pool count. */
interface FamiliesOfPool {
  readonly pool: string;
  readonly families: readonly MetricFamily[];
}

/** What features count in several pools, each family once: those that a further pool has too say the pool in a label. */
export function familiesOfPools(own: FamiliesOfPool, further: readonly FamiliesOfPool[]): readonly MetricFamily[] {
  if (further.length === 0) return own.families;
  const shared = new Set(further.flatMap(({ families }) => families.map(({ name }) => name)));
  const merged = new Map<string, MetricFamily>();
  for (const { pool, families } of [own, ...further])
    for (const family of families) {
      const named = shared.has(family.name) ? withPool(family, pool) : family;
      const known = merged.get(family.name);
      merged.set(family.name, known === undefined ? named : { ...known, samples: [...known.samples, ...named.samples] });
    }
  return [...merged.values()];
}

function withPool(family: MetricFamily, pool: string): MetricFamily {
  if (family.labels.includes("pool")) return family;
  const samples = family.samples.map(({ values, value }) => ({ values: [...values, pool], value }));
  return { ...family, labels: [...family.labels, "pool"], samples };
}
