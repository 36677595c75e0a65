import type { HistogramView } from "../../../core/contract/histogram.ts";
import type { MetricFamily } from "../../../core/contract/metric-family.ts";
import type { MirrorTally } from "./mirror-tally.ts";

type Samples = MetricFamily["samples"];

/** What mirrors do; nothing for a config without them. */
export function mirrorMetrics(mirrors: readonly MirrorTally[]): readonly MetricFamily[] {
  if (mirrors.length === 0) return [];
  const family = (name: string, type: MetricFamily["type"], help: string, label: readonly string[], samples: Samples) => {
    return { name: `mirror_${name}`, type, help, labels: ["rule", "target", ...label], samples };
  };
  const each = (read: (mirror: MirrorTally) => number | HistogramView) =>
    mirrors.map((mirror) => ({ values: [mirror.rule, mirror.target], value: read(mirror) }));
  const keyed = (read: (mirror: MirrorTally) => ReadonlyMap<string, number>) =>
    mirrors.flatMap((mirror) => [...read(mirror)].map(([key, value]) => ({ values: [mirror.rule, mirror.target, key], value })));
  const copiesHelp = "Copies of requests that have ended, by status class or by how they ended.";
  const skippedHelp = "Requests that were to be copied and were not.";
  const flightHelp = "Copies of requests that are under way.";
  const firstHelp = "Seconds to the first byte of copies that were served and whose request was, too.";
  const originalHelp = "The same of the requests that those are copies of.";
  const originals = each(({ originalFirstBytes }) => originalFirstBytes);
  return [
    family(
      "copies_total",
      "counter",
      copiesHelp,
      ["result"],
      keyed(({ results }) => results),
    ),
    family(
      "skipped_total",
      "counter",
      skippedHelp,
      ["reason"],
      keyed(({ skipped }) => skipped),
    ),
    family(
      "in_flight",
      "gauge",
      flightHelp,
      [],
      each(({ inFlight }) => inFlight),
    ),
    family(
      "time_to_first_byte_seconds",
      "histogram",
      firstHelp,
      [],
      each(({ firstBytes }) => firstBytes),
    ),
    family("original_time_to_first_byte_seconds", "histogram", originalHelp, [], originals),
  ];
}
