import { type Buckets, bucketLines, makeBuckets, observe } from "./buckets.ts";
import { familyHead, labelPairs } from "./exposition.ts";

/** A histogram with one label or none. The label must have few values, such as the types of parsers. */
export class HistogramFamily {
  readonly #name: string;
  readonly #help: string;
  readonly #label: string;
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Buckets>();

  /** `label` is "" for none. `bounds` are the upper ends of the buckets, ascending; after the last there is one more, +Inf. */
  constructor(name: string, help: string, label: string, bounds: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#label = label;
    this.#bounds = bounds;
  }

  /** Counts one value; NaN, for what did not happen, is left out. */
  observe(value: number, labelValue = ""): void {
    observe(this.#series.get(labelValue) ?? this.#open(labelValue), this.#bounds, value);
  }

  text(): string {
    const labels = this.#label === "" ? [] : [this.#label];
    const series = [...this.#series].map(([value, buckets]) =>
      bucketLines(this.#name, labelPairs(labels, [value]), this.#bounds, buckets),
    );
    return familyHead(this.#name, "histogram", this.#help) + series.join("");
  }

  #open(labelValue: string): Buckets {
    const buckets = makeBuckets(this.#bounds);
    this.#series.set(labelValue, buckets);
    return buckets;
  }
}
