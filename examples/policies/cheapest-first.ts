/** score = 1 / (1 + cost - lowest cost): the lowest cost scores 1, higher costs less, equal costs the same. */
export function cheapestFirst(costs: readonly number[]): readonly number[] {
  const lowest = Math.min(...costs);
  // The parentheses matter: in another order, rounding could make the best score larger than 1.
  return costs.map((cost) => 1 / (1 + (cost - lowest)));
}
