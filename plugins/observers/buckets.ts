import { Bounds, type HistogramView } from "../../core/contract/histogram.ts";
import type { MetricFamily } from "../../core/contract/metric-family.ts";
import { familyHead, labelPairs, sampleLine } from "./exposition.ts";

/** Upper ends of buckets for times of requests, in seconds: from 1 ms to 10 minutes, each 2 to 3 times the one before. */
export const REQUEST_SECONDS = new Bounds([
  ...[0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5],
  ...[1, 2, 5, 10, 20, 60, 120, 300, 600],
]);

/** The same for times that are short while all is well, such as a decision's: from 10 microseconds to 10 seconds. */
export const SHORT_SECONDS = new Bounds([
  ...[0.00001, 0.00002, 0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005],
  ...[0.01, 0.02, 0.05, 0.1, 0.5, 1, 10],
]);

/** The same for the time of one output token: engines need between a millisecond and a second. */
export const TOKEN_SECONDS = new Bounds([
  ...[0.001, 0.002, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03],
  ...[0.05, 0.075, 0.1, 0.2, 0.5, 1, 10],
]);

/** The same for tokens of one request, as OpenTelemetry's conventions have them. */
export const TOKEN_COUNTS = new Bounds(Array.from({ length: 14 }, (_, power) => 4 ** power));

/** The bounds as text, made once for each: numbers take most of a page's time. */
const ENDS = new WeakMap<Bounds, readonly string[]>();

function endsOf(bounds: Bounds): readonly string[] {
  const known = ENDS.get(bounds) ?? bounds.ends.map((end) => `le="${end}"} `);
  ENDS.set(bounds, known);
  return known;
}

/** The lines of one series; `pairs` are its labels as `labelPairs` writes them. */
export function bucketLines(name: string, pairs: string, { bounds, counts, sum, count }: HistogramView): string {
  const start = `${name}_bucket{${pairs === "" ? "" : `${pairs},`}`;
  const ends = endsOf(bounds);
  let total = 0;
  let text = "";
  for (let index = 0; index < ends.length; index++) {
    total += counts[index]!;
    text += `${start}${ends[index]}${total}\n`;
  }
  const labels = pairs === "" ? "" : `{${pairs}}`;
  return `${text}${start}le="+Inf"} ${count}\n${name}_sum${labels} ${sum}\n${name}_count${labels} ${count}\n`;
}

/** A family of one histogram without labels; without samples while nothing was counted. */
export function histogramText(name: string, help: string, histogram: HistogramView): string {
  return familyHead(name, "histogram", help) + (histogram.count === 0 ? "" : bucketLines(name, "", histogram));
}

/** A family as the router's features give it. */
export function familyText({ name: bare, type, help, labels, samples }: MetricFamily): string {
  const name = `signalbox_${bare}`;
  let text = familyHead(name, type, help);
  for (const { values, value } of samples)
    text +=
      typeof value === "number" ? sampleLine(name, labels, values, value) : bucketLines(name, labelPairs(labels, values), value);
  return text;
}
