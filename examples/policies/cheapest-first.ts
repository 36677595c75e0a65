/** Scores for costs: the lowest has 1, higher ones less and less, and equal ones the same. */
export function cheapestFirst(costs: readonly number[]): readonly number[] {
  const lowest = Math.min(...costs);
  return costs.map((cost) => 1 / (1 + cost - lowest));
}
