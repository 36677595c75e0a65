import type { HistogramView } from "../../contract/histogram.ts";
import type { MetricFamily } from "../../contract/metric-family.ts";
import { ignoresPromise } from "../../contract/returned-promise.ts";

type Sample = MetricFamily["samples"][number];

/** A plugin's metrics as plain data. Throws TypeError for what would make the whole page unreadable. */
export function checkedFamilies(families: unknown): readonly MetricFamily[] {
  ignoresPromise(families);
  if (!Array.isArray(families)) throw new TypeError("metrics must return a list of families");
  return families.map(checkedFamily);
}

function checkedFamily(family: Partial<MetricFamily> | null): MetricFamily {
  const { name, type, help, labels, samples } = family ?? {};
  if (typeof name !== "string" || !/^[a-z][a-z0-9_]*$/.test(name))
    throw new TypeError("a family of metrics has no name such as my_total");
  const wrong = (what: string) => new TypeError(`the metrics ${name} must have ${what}`);
  if (type !== "counter" && type !== "gauge" && type !== "histogram") throw wrong("the type counter, gauge or histogram");
  if (typeof help !== "string" || /[\r\n]/.test(help)) throw wrong("a help of one line");
  if (!areLabels(labels) || (type === "histogram" && labels.includes("le")))
    throw wrong("labels as names, each once, and none that is le");
  if (!Array.isArray(samples)) throw wrong("a list of samples");
  const read = type === "histogram" ? histogramOf : numberOf;
  const checkedSample = ({ values, value }: Partial<Sample>): Sample => {
    const number = read(value);
    if (number === undefined || !areValues(values, labels.length))
      throw wrong("samples with a text for each label, and a value of its type");
    return { values: [...values], value: number };
  };
  return { name, type, help, labels: [...labels], samples: samples.map((each) => checkedSample(each ?? {})) };
}

function areLabels(labels: unknown): labels is readonly string[] {
  if (!Array.isArray(labels) || new Set(labels).size < labels.length) return false;
  return labels.every((label) => typeof label === "string" && /^[a-z_][a-z0-9_]*$/.test(label));
}

function areValues(values: unknown, count: number): values is readonly string[] {
  return Array.isArray(values) && values.length === count && values.every((each) => typeof each === "string");
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function histogramOf(value: unknown): HistogramView | undefined {
  const { bounds, counts, sum, count } = (typeof value === "object" ? (value ?? {}) : {}) as Partial<HistogramView>;
  const ends: unknown = bounds?.ends;
  if (bounds === undefined || !Array.isArray(ends) || ends.some((each) => typeof each !== "number")) return undefined;
  if (!(counts instanceof Float64Array) || counts.length !== ends.length + 1) return undefined;
  return typeof sum === "number" && typeof count === "number" ? { bounds, counts: counts.slice(), sum, count } : undefined;
}
