/** The latest values of one kind. */
export class Recent {
  readonly #values: Float64Array;
  readonly #zeros: number;
  readonly #sorted: Float64Array;
  #count = 0;

  /** `zeros`: so many zeros count as values for good, which keeps a few values from saying much. */
  constructor(size: number, zeros = 0) {
    this.#values = new Float64Array(size);
    this.#zeros = zeros;
    this.#sorted = new Float64Array(size + zeros);
  }

  add(value: number): void {
    this.#values[this.#count % this.#values.length] = value;
    this.#count += 1;
  }

  /** The median distance of the values, without the zeros, from `center`; 0 without any. */
  distance(center: number): number {
    const known = Math.min(this.#count, this.#values.length);
    const sorted = this.#sorted.subarray(0, known);
    for (let index = 0; index < known; index++) sorted[index] = Math.abs(this.#values[index]! - center);
    sorted.sort();
    return sorted[known >> 1] ?? 0;
  }

  /** The smallest value that is not exceeded by that share of all; 0 without any. */
  quantile(share: number): number {
    const known = Math.min(this.#count, this.#values.length);
    const sorted = this.#sorted.subarray(0, known + this.#zeros);
    if (sorted.length === 0) return 0;
    sorted.fill(0).set(this.#values.subarray(0, known));
    sorted.sort();
    return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!;
  }
}
