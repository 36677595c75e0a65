/** The first document, with each number of all of them joined; null counts as no number. */
export function joined<Document extends object>(
  all: readonly Document[],
  join: (one: number, other: number) => number,
): Document {
  const [first, ...others] = all as [Document, ...Document[]];
  const result = { ...first } as Record<string, unknown>;
  for (const other of others)
    for (const [key, value] of Object.entries(other)) {
      const before = result[key];
      if (typeof value === "number") result[key] = typeof before === "number" ? join(before, value) : value;
    }
  return result as Document;
}

export function summed<Key extends string>(all: readonly Readonly<Record<Key, number>>[], key: Key): number {
  return all.reduce((sum, each) => sum + each[key], 0);
}

/** The mean of values that are known, by their weights; null where none is. */
export function weighted(values: readonly (number | null)[], weights: readonly number[]): number | null {
  let [sum, weight] = [0, 0];
  values.forEach((value, index) => {
    if (value === null) return;
    const by = Math.max(weights[index] ?? 0, Number.EPSILON);
    sum += value * by;
    weight += by;
  });
  return weight === 0 ? null : sum / weight;
}
