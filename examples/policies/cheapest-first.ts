/** score = 1 / (1 + cost - lowest cost): the lowest cost scores 1, higher costs less, equal costs the same. */
export function cheapestFirst(costs: readonly number[]): readonly number[] {
  const lowest = Math.min(...costs);
  return costs.map((cost) => 1 / (1 + cost - lowest));
}
