/**
 * Index of the target for draw number `n` (from 0). It depends only on the weights and `n`; shares are exact over short runs too.
 *
 * Let W be the sum of the weights. After n draws the first target has had round(n x w1 / W) of them; it gets draw n if that
 * number grows from n to n + 1. All other draws are numbered again, n - round((n + 1) x w1 / W), and divided among the other
 * targets in the same way, with the weights that are left.
 *
 * Any W draws in a row give the first target exactly w1, because round((n + W) x w1 / W) = round(n x w1 / W) + w1. The other
 * W - w1 draws have consecutive new numbers, and the other weights sum to W - w1, so their shares are exact too. If the weights
 * have a common divisor d, the same holds for any W / d draws in a row: 90 and 10 are exact over any 10. Rounding to nearest,
 * not down, puts a small share in the middle of its run, so a new counter does not begin with the rarest target.
 *
 * Weights are whole numbers from 0 to 1,000,000; a weight of 0 is never drawn. Throws RangeError if all are 0.
 */
export function drawShare(weights: readonly number[], n: number): number {
  let left = sumOf(weights);
  // The sequence repeats after W draws; without the modulo, products could become too large for exact integers.
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

/** Index of the target at `position` in [0, 1), which is divided among the targets by their shares, in order. */
export function targetAt(weights: readonly number[], position: number): number {
  let rest = position * sumOf(weights);
  for (let index = 0; index < weights.length; index++) {
    if (rest < weights[index]!) return index;
    rest -= weights[index]!;
  }
  throw new RangeError("The weights are all 0: give at least one target a share");
}

/** round(draws x weight / sum), computed with exact integers. */
function roundedShare(draws: number, weight: number, sum: number): number {
  return Math.floor((2 * draws * weight + sum) / (2 * sum));
}

function sumOf(weights: readonly number[]): number {
  return weights.reduce((sum, weight) => sum + weight, 0);
}
