import type { HistogramView } from "../../core/contract/histogram.ts";
import type { MirrorCounts } from "../../core/contract/mirror.ts";
import type { RouterView } from "../../core/contract/router-view.ts";
import { bucketLines } from "./buckets.ts";
import { familyHead, labelPairs, sampleLine } from "./exposition.ts";

/** What mirrors do; nothing for a config without them. */
export function mirrorMetrics({ features: { mirrors } }: Pick<RouterView, "features">): string {
  if (mirrors.length === 0) return "";
  return (
    keyed(
      "mirror_copies",
      "Copies of requests that have ended, by status class or by how they ended.",
      "result",
      mirrors,
      (one) => one.results,
    ) +
    keyed("mirror_skipped", "Requests that were to be copied and were not.", "reason", mirrors, (one) => one.skipped) +
    inFlightGauge(mirrors) +
    histogram(
      "mirror_time_to_first_byte_seconds",
      "Seconds to the first byte of copies that were served and whose request was, too.",
      mirrors,
      (one) => one.firstBytes,
    ) +
    histogram(
      "mirror_original_time_to_first_byte_seconds",
      "The same of the requests that those are copies of.",
      mirrors,
      (one) => one.originalFirstBytes,
    )
  );
}

const LABELS = ["rule", "target"];

function keyed(
  base: string,
  help: string,
  label: string,
  mirrors: readonly MirrorCounts[],
  read: (mirror: MirrorCounts) => ReadonlyMap<string, number>,
): string {
  const name = `signalbox_${base}_total`;
  const samples = mirrors.flatMap((mirror) =>
    [...read(mirror)].map(([key, count]) => sampleLine(name, [...LABELS, label], [mirror.rule, mirror.target, key], count)),
  );
  return familyHead(name, "counter", help) + samples.join("");
}

function inFlightGauge(mirrors: readonly MirrorCounts[]): string {
  const name = "signalbox_mirror_in_flight";
  const samples = mirrors.map(({ rule, target, inFlight }) => sampleLine(name, LABELS, [rule, target], inFlight));
  return familyHead(name, "gauge", "Copies of requests that are under way.") + samples.join("");
}

function histogram(
  base: string,
  help: string,
  mirrors: readonly MirrorCounts[],
  read: (mirror: MirrorCounts) => HistogramView,
): string {
  const name = `signalbox_${base}`;
  const series = mirrors.map((mirror) => bucketLines(name, labelPairs(LABELS, [mirror.rule, mirror.target]), read(mirror)));
  return familyHead(name, "histogram", help) + series.join("");
}
