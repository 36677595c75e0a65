import { familyHead, sampleLine } from "./exposition.ts";

/** A histogram with one label. The label must have few values, such as the types of parsers. */
export class HistogramFamily {
  readonly #name: string;
  readonly #help: string;
  readonly #label: string;
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Buckets>();

  /** `bounds` are the upper ends of the buckets, ascending; after the last there is one more bucket, +Inf. */
  constructor(name: string, help: string, label: string, bounds: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#label = label;
    this.#bounds = bounds;
  }

  observe(value: number, labelValue: string): void {
    const bounds = this.#bounds;
    const buckets = this.#series.get(labelValue) ?? this.#open(labelValue);
    let index = 0;
    while (index < bounds.length && value > bounds[index]!) index += 1;
    buckets.counts[index]! += 1;
    buckets.sum += value;
  }

  text(): string {
    const series = [...this.#series].map(([value, buckets]) => this.#seriesText(value, buckets));
    return familyHead(this.#name, "histogram", this.#help) + series.join("");
  }

  #open(labelValue: string): Buckets {
    const buckets: Buckets = { counts: new Float64Array(this.#bounds.length + 1), sum: 0 };
    this.#series.set(labelValue, buckets);
    return buckets;
  }

  #seriesText(value: string, { counts, sum }: Buckets): string {
    let total = 0;
    let text = "";
    for (let index = 0; index < counts.length; index++) {
      total += counts[index]!;
      const end = index < this.#bounds.length ? String(this.#bounds[index]) : "+Inf";
      text += sampleLine(`${this.#name}_bucket`, [this.#label, "le"], [value, end], total);
    }
    text += sampleLine(`${this.#name}_sum`, [this.#label], [value], sum);
    return text + sampleLine(`${this.#name}_count`, [this.#label], [value], total);
  }
}

interface Buckets {
  readonly counts: Float64Array;
  sum: number;
}
