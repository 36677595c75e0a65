import { solveNonNegative } from "./non-negative.ts";
import { Recent } from "./recent.ts";

// Learns y = sum(coefficient x feature) from samples, one at a time, in memory that does not grow. Errors of times are relative, so
// residuals are ln(y / expected). Now and then a time is far off for a reason that no feature shows. So a sample counts by the
// distance of its residual from the median of the latest ones: fully while that is usual, then less and less, and not at all far
// away (Tukey's biweight, scaled by the median distance). Distances are not taken from 0: a fit that is wrong, or that all times have
// left, learns from what most samples agree on, and not from what is nearest to it.

/** Residuals that say what is usual. */
const WINDOW = 31;
/** The least that counts as usual; smaller differences have no meaning. */
const LEAST_SCALE = 0.05;
/** The standard deviation of a normal distribution, by the median of the absolute values. */
const DEVIATION_BY_MEDIAN = 1.4826;
/** Tukey's constant: residuals beyond so many deviations do not count. */
const CUT = 4.685;
/** Samples weigh by 1 / expected squared, but as if at least this part of what was seen had been expected. */
const MOST_UNDERRATED = 4;

/** What is believed of the coefficients without samples: adds to both sides of the normal equations. */
export type Prior = (moments: Float64Array, cross: Float64Array) => void;

export class RobustFit {
  /** By feature, from 0: no feature makes a request faster. */
  readonly coefficients: Float64Array;
  /** Sum of weight x feature x feature, by row, and of weight x feature x y: the normal equations. */
  readonly moments: Float64Array;
  readonly cross: Float64Array;
  /** How many samples count: the sum of how much each one does. */
  samples = 0;
  readonly #floorMs: number;
  readonly #keep: number;
  readonly #residuals = new Recent(WINDOW);
  readonly #moments: Float64Array;
  readonly #cross: Float64Array;

  /** A sample counts a third as much after `memory` further ones. Below `floorMs` relative errors mean little. */
  constructor(size: number, memory: number, floorMs: number) {
    this.coefficients = new Float64Array(size);
    this.moments = new Float64Array(size * size);
    this.cross = new Float64Array(size);
    this.#moments = new Float64Array(size * size);
    this.#cross = new Float64Array(size);
    this.#keep = Math.exp(-1 / memory);
    this.#floorMs = floorMs;
  }

  predict(features: ArrayLike<number>): number {
    const { coefficients } = this;
    let sum = 0;
    for (let i = 0; i < coefficients.length; i++) sum += coefficients[i]! * features[i]!;
    return sum;
  }

  /** `expectedMs` is what was expected of the sample: it says how far off `y` is. */
  learn(features: ArrayLike<number>, y: number, expectedMs: number, prior: Prior): void {
    const expected = expectedMs + this.#floorMs;
    const trust = this.#trust(Math.log((y + this.#floorMs) / expected));
    // One that was far too little expected of must not weigh more than all others together.
    const size = Math.max(expected, (y + this.#floorMs) / MOST_UNDERRATED);
    this.#add(features, y, trust, trust / (size * size));
    this.#moments.set(this.moments);
    this.#cross.set(this.cross);
    prior(this.#moments, this.#cross);
    solveNonNegative(this.#moments, this.#cross, this.coefficients);
  }

  /** How much a sample counts, in [0, 1]. */
  #trust(residual: number): number {
    this.#residuals.add(residual);
    const usual = this.#residuals.quantile(0.5);
    const scale = Math.max(LEAST_SCALE, DEVIATION_BY_MEDIAN * this.#residuals.distance(usual));
    const far = (residual - usual) / (CUT * scale);
    return Math.abs(far) >= 1 ? 0 : (1 - far * far) ** 2;
  }

  #add(features: ArrayLike<number>, y: number, trust: number, weight: number): void {
    const { moments, cross } = this;
    const size = cross.length;
    const keep = this.#keep;
    this.samples = this.samples * keep + trust;
    for (let row = 0; row < size; row++) {
      const weighted = weight * features[row]!;
      cross[row] = cross[row]! * keep + weighted * y;
      for (let column = 0; column < size; column++) {
        const at = row * size + column;
        moments[at] = moments[at]! * keep + weighted * features[column]!;
      }
    }
  }
}
