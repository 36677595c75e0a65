import type { HistogramView } from "./histogram.ts";

/**
 * A family of metrics as an observer's page may show it: plain data, read when the page is requested.
 *
 * @example
 * const titles = view.families().map(({ name, type, samples }) => `signalbox_${name}: ${samples.length} samples of a ${type}`);
 */
export interface MetricFamily {
  /** Behind "signalbox_", as Prometheus writes names. */
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
  readonly samples: readonly MetricSample[];
}

interface MetricSample {
  /** The values of the labels, in their order. They may come from outside. */
  readonly values: readonly string[];
  readonly value: number | HistogramView;
}
