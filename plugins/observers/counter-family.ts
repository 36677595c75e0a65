import { familyHead, OTHER, sampleLine } from "./exposition.ts";

interface Series {
  readonly values: readonly string[];
  count: number;
}

type Branches = Map<string, Map<string, Map<string, Series>>>;

/** A counter with up to three labels and a limit of series. Finding a series takes three look-ups and builds no key. */
export class CounterFamily {
  readonly #name: string;
  readonly #help: string;
  readonly #labels: readonly string[];
  /** May be changed at any time; series that there are stay. */
  maxSeries: number;
  #branches: Branches = new Map();
  #size = 0;

  constructor(name: string, help: string, labels: readonly string[], maxSeries: number) {
    this.#name = name;
    this.#help = help;
    this.#labels = labels;
    this.maxSeries = maxSeries;
    if (labels.length === 0) this.#openAt([]);
  }

  get size(): number {
    return this.#size;
  }

  /** One value per label, in their order. */
  add(amount: number, first = "", second = "", third = ""): void {
    const series = this.#branches.get(first)?.get(second)?.get(third) ?? this.#open(first, second, third);
    series.count += amount;
  }

  /** When half of the series are used: moves the counts of label values that are not in `kept` to "other". */
  makeRoom(label: string, kept: ReadonlySet<string>): void {
    if (this.#size < this.maxSeries / 2) return;
    const index = this.#labels.indexOf(label);
    const all = this.#series();
    this.#branches = new Map();
    this.#size = 0;
    for (const { values, count } of all) {
      const [first, second, third] = values.map((value, at) => (at === index && !kept.has(value) ? OTHER : value));
      this.add(count, first, second, third);
    }
  }

  text(): string {
    const lines = this.#series().map(({ values, count }) => sampleLine(this.#name, this.#labels, values, count));
    return familyHead(this.#name, "counter", this.#help) + lines.join("");
  }

  #open(first: string, second: string, third: string): Series {
    const isFull = this.#size >= this.maxSeries;
    const values = isFull ? this.#labels.map(() => OTHER) : [first, second, third].slice(0, this.#labels.length);
    return this.#openAt(values);
  }

  #openAt(values: readonly string[]): Series {
    const [first = "", second = "", third = ""] = values;
    const byThird = branch(branch(this.#branches, first), second);
    const known = byThird.get(third);
    if (known !== undefined) return known;
    const series: Series = { values, count: 0 };
    byThird.set(third, series);
    this.#size += 1;
    return series;
  }

  #series(): readonly Series[] {
    return [...this.#branches.values()].flatMap((bySecond) => [...bySecond.values()].flatMap((byThird) => [...byThird.values()]));
  }
}

function branch<Key, Value extends Map<string, unknown>>(branches: Map<Key, Value>, key: Key): Value {
  const known = branches.get(key);
  if (known !== undefined) return known;
  const grown = new Map() as Value;
  branches.set(key, grown);
  return grown;
}
