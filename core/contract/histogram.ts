/** So many cells of equal width lie between a power of two and the next. */
const CELL_BITS = 4;
/** Bits of a fraction that the upper half of a double holds. */
const UPPER_FRACTION_BITS = 20;

const double = new Float64Array(1);
const halves = new Int32Array(double.buffer);
/** Which half holds the exponent: the second one where the lower bytes come first. */
const UPPER = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 1 : 0;

/** The exponent of a number from 0, and the first bits of its fraction: what is larger has no smaller cell. */
function cellOf(value: number): number {
  double[0] = value;
  return halves[UPPER]! >> (UPPER_FRACTION_BITS - CELL_BITS);
}

function leastOf(cell: number): number {
  halves[UPPER] = cell << (UPPER_FRACTION_BITS - CELL_BITS);
  halves[1 - UPPER] = 0;
  return double[0]!;
}

/** The upper ends of buckets; one more bucket is for what is above the last. Made once for all histograms that have them. */
export class Bounds {
  /** Ascending, all above 0. */
  readonly ends: readonly number[];
  /** The bucket that the least value of each cell belongs to. */
  readonly #buckets: Uint16Array;
  readonly #firstCell: number;

  /** `ends`: at least one, ascending, all above 0. */
  constructor(ends: readonly number[]) {
    this.ends = ends;
    this.#firstCell = cellOf(ends[0]!);
    this.#buckets = new Uint16Array(cellOf(ends.at(-1)!) - this.#firstCell + 1);
    let bucket = 0;
    for (let cell = 0; cell < this.#buckets.length; cell++) {
      while (ends[bucket]! < leastOf(this.#firstCell + cell)) bucket += 1;
      this.#buckets[cell] = bucket;
    }
  }

  /** Buckets of which each ends by `factor` above the one before, from `least` to at least `most`. */
  static growing(least: number, most: number, factor: number): Bounds {
    const steps = Math.ceil(Math.log(most / least) / Math.log(factor));
    return new Bounds(Array.from({ length: steps + 1 }, (_, step) => least * factor ** step));
  }

  /** The bucket of a value from 0. */
  bucketOf(value: number): number {
    const { ends } = this;
    const cell = Math.max(0, cellOf(value) - this.#firstCell);
    if (cell >= this.#buckets.length) return ends.length;
    // A cell is narrow, so there is hardly ever more than one step.
    let bucket = this.#buckets[cell]!;
    while (bucket < ends.length && value > ends[bucket]!) bucket += 1;
    return bucket;
  }

  /** The middle of the bucket that has the value of this rank, from 0 to their sum; NaN beyond. `counts` holds one for each bucket. */
  valueAtRank(counts: ArrayLike<number>, rank: number): number {
    let passed = 0;
    for (let bucket = 0; bucket < counts.length && rank >= 0; bucket++) {
      passed += counts[bucket]!;
      if (passed > 0 && passed >= rank) return this.#middleOf(bucket);
    }
    return Number.NaN;
  }

  /** By ratio: it is as many times above the lower end as below the upper one. */
  #middleOf(bucket: number): number {
    const end = this.ends[Math.min(bucket, this.ends.length - 1)]!;
    return Math.sqrt(end * (this.ends[bucket - 1] ?? end));
  }
}

/** What a histogram has counted so far. */
export interface HistogramView {
  readonly bounds: Bounds;
  /** Values in each bucket; one more than there are ends. */
  readonly counts: Float64Array;
  readonly count: number;
  readonly sum: number;
}

/**
 * Counts values from 0 in buckets: how they are distributed, in as much memory as there are buckets.
 *
 * @example
 * const waitsS = new Histogram(new Bounds([0.01, 0.1, 1]));
 * waitsS.add(0.05);
 */
export class Histogram implements HistogramView {
  readonly bounds: Bounds;
  readonly counts: Float64Array;
  count = 0;
  sum = 0;
  sumOfSquares = 0;

  constructor(bounds: Bounds) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.ends.length + 1);
  }

  /** Counts a value so many times; NaN, for what did not happen, and what is below 0 change nothing. */
  add(value: number, times = 1): void {
    if (!(value >= 0)) return;
    this.counts[this.bounds.bucketOf(value)]! += times;
    this.count += times;
    this.sum += value * times;
    this.sumOfSquares += value * value * times;
  }

  /** Adds what another one with the same bounds has counted. */
  addAll({ counts, count, sum, sumOfSquares }: Histogram): void {
    for (let bucket = 0; bucket < counts.length; bucket++) this.counts[bucket]! += counts[bucket]!;
    this.count += count;
    this.sum += sum;
    this.sumOfSquares += sumOfSquares;
  }
}
