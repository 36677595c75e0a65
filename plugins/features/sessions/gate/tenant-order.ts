interface Waiting {
  readonly tenant: string;
}

/**
 * The first `most` of those that wait. The tenant with fewest turns is next, and of its turns the one that has waited longest; between
 * equals who came first. `turnsOf`: how many turns of the tenant go on now.
 */
export function tenantsInTurn<One extends Waiting>(
  waiting: Iterable<One>,
  most: number,
  turnsOf: (tenant: string) => number,
): readonly One[] {
  const found: { readonly one: One; readonly turns: number }[] = [];
  const seen = new Map<string, number>();
  for (const one of waiting) {
    const before = seen.get(one.tenant) ?? 0;
    if (before >= most) continue;
    seen.set(one.tenant, before + 1);
    found.push({ one, turns: turnsOf(one.tenant) + before });
  }
  return found
    .sort((a, b) => a.turns - b.turns)
    .slice(0, most)
    .map(({ one }) => one);
}
