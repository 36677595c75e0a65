interface Waiting {
  readonly tenant: string;
  readonly priority: number;
}

/**
 * The first `most` of those that wait. Higher priorities are first; of one priority the tenant with fewest turns is next, and of its
 * turns the one that has waited longest; between equals who came first. `turnsOf`: how many turns of the tenant go on now.
 */
export function tenantsInTurn<One extends Waiting>(
  waiting: Iterable<One>,
  most: number,
  turnsOf: (tenant: string) => number,
): readonly One[] {
  const found: { readonly one: One; readonly turns: number }[] = [];
  const seen = new Map<string, number>();
  for (const one of waiting) {
    const flow = `${one.priority} ${one.tenant}`;
    const before = seen.get(flow) ?? 0;
    if (before >= most) continue;
    seen.set(flow, before + 1);
    found.push({ one, turns: turnsOf(one.tenant) + before });
  }
  return found
    .sort((a, b) => b.one.priority - a.one.priority || a.turns - b.turns)
    .slice(0, most)
    .map(({ one }) => one);
}
