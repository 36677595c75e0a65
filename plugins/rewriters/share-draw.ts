/**
 * Which target gets draw number `n`, so that shares are exact over short runs too: a pure function of the weights and `n`.
 *
 * Of the first n draws the first target has had round(n x w1 / W), W being the sum of the weights; it gets draw n when that
 * number grows. Every other draw belongs to the rest and is numbered among the rest, n - round((n + 1) x w1 / W), where the
 * same question is asked of the next target with what is left of the weights.
 *
 * Any W draws in a row hold exactly w1 of the first target, for round((n + W) x w1 / W) = round(n x w1 / W) + w1. The other
 * W - w1 follow each other in the rest's own numbering, whose weights sum to W - w1, so they are exact as well. With a common
 * divisor d the same holds for any W / d draws in a row: 90 and 10 are exact over any 10. Rounding to nearest, not down,
 * puts a small share in the middle of its run: a counter that starts anew does not begin with the rarest target.
 *
 * Weights are whole numbers of at most 1,000,000 and not all 0; a weight of 0 is never drawn.
 */
export function drawShare(weights: readonly number[], n: number): number {
  let left = sumOf(weights);
  // The sequence repeats after W draws; without this, products could outgrow exact integers.
  let draw = n % left;
  for (let index = 0; index < weights.length; index++) {
    const weight = weights[index]!;
    const before = roundedShare(draw, weight, left);
    const after = roundedShare(draw + 1, weight, left);
    if (after > before) return index;
    draw -= after;
    left -= weight;
  }
  throw new RangeError("The weights are all 0: give at least one target a share");
}

/** Which target owns `position` in [0, 1) when each has a stretch as long as its share, in order. */
export function targetAt(weights: readonly number[], position: number): number {
  let rest = position * sumOf(weights);
  for (let index = 0; index < weights.length; index++) {
    if (rest < weights[index]!) return index;
    rest -= weights[index]!;
  }
  throw new RangeError("The weights are all 0: give at least one target a share");
}

/** draws x weight / sum, rounded to the nearest whole number, in exact integers. */
function roundedShare(draws: number, weight: number, sum: number): number {
  return Math.floor((2 * draws * weight + sum) / (2 * sum));
}

function sumOf(weights: readonly number[]): number {
  return weights.reduce((sum, weight) => sum + weight, 0);
}
