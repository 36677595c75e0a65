import { familyHead, labelPairs, OTHER } from "./exposition.ts";

/** What was counted of one combination of labels. */
export interface LabelledCounts {
  /** The labels with their values, as text that is made once. */
  readonly pairs: string;
  readonly counts: Float64Array;
}

export interface CountedRow extends LabelledCounts {
  /** The values of the labels. */
  readonly values: readonly string[];
}

/** Rows of counts by one label or two, with a limit of rows. Finding a row builds no key. */
export class CountTable {
  readonly #labels: readonly string[];
  readonly #width: number;
  /** May be changed at any time; rows that there are stay. */
  maxRows: number;
  #rows = new Map<string, Map<string, CountedRow>>();
  #size = 0;

  /** Each row has `width` counts. */
  constructor(labels: readonly string[], width: number, maxRows: number) {
    this.#labels = labels;
    this.#width = width;
    this.maxRows = maxRows;
  }

  /** The counts of these values of the labels; in a full table, those of all others. */
  counts(first: string, second = ""): Float64Array {
    return (this.#rows.get(first)?.get(second) ?? this.#open([first, second].slice(0, this.#labels.length))).counts;
  }

  /** When half of the rows are used: adds those with a value of the label that is not in `kept` to "other". */
  makeRoom(label: string, kept: ReadonlySet<string>): void {
    if (this.#size < this.maxRows / 2) return;
    const index = this.#labels.indexOf(label);
    const all = this.all();
    this.#rows = new Map();
    this.#size = 0;
    for (const { values, counts } of all)
      addCounts(this.#rowAt(values.map((value, at) => (at === index && !kept.has(value) ? OTHER : value))).counts, counts);
  }

  all(): readonly CountedRow[] {
    return [...this.#rows.values()].flatMap((bySecond) => [...bySecond.values()]);
  }

  #open(values: readonly string[]): CountedRow {
    return this.#rowAt(this.#size < this.maxRows ? values : values.map(() => OTHER));
  }

  #rowAt(values: readonly string[]): CountedRow {
    const [first = "", second = ""] = values;
    const bySecond = this.#rows.get(first) ?? new Map<string, CountedRow>();
    const known = bySecond.get(second);
    if (known !== undefined) return known;
    const row = { values, pairs: labelPairs(this.#labels, values), counts: new Float64Array(this.#width) };
    this.#rows.set(first, bySecond.set(second, row));
    this.#size += 1;
    return row;
  }
}

export function addCounts(into: Float64Array, from: Float64Array): void {
  for (let index = 0; index < into.length; index++) into[index]! += from[index]!;
}

/** A counter of which each row has one sample, or one for each of some further labels. */
export interface RowCounter {
  readonly name: string;
  readonly help: string;
  /** Where the first of its numbers is in a row's `counts`. */
  readonly at: number;
  /** As text. */
  readonly further: readonly string[];
  /** Shows zeros too, so that the first increase is seen: rates know nothing of a sample that was not there before. */
  readonly hasZeros: boolean;
}

/** `name` without what all have in common. */
export function rowCounter(name: string, help: string, at: number, further: readonly string[] = [""]): RowCounter {
  return { name: `signalbox_${name}_total`, help, at, further, hasZeros: false };
}

/** The family of a counter. */
export function rowsText(counter: RowCounter, rows: readonly LabelledCounts[]): string {
  const { name, help, at, further, hasZeros } = counter;
  let text = familyHead(name, "counter", help);
  for (const { counts, pairs } of rows) {
    for (let index = 0; index < further.length; index++) {
      const count = counts[at + index]!;
      if (count !== 0 || hasZeros) text += `${name}{${pairs}${further[index]}} ${count}\n`;
    }
  }
  return text;
}
