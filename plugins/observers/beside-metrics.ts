import type { Distribution, MirrorCounts } from "../../core/contract/mirror.ts";
import type { RouterView } from "../../core/contract/router-view.ts";
import type { ShadowCounts } from "../../core/contract/shadow.ts";
import { familyHead, sampleLine } from "./exposition.ts";

/** What happens beside clients' requests: mirrors and the shadow profile. Nothing for a config without them. */
export function besideMetrics({ mirrors, shadow }: Pick<RouterView, "mirrors" | "shadow">): string {
  return (mirrors.length === 0 ? "" : mirrorFamilies(mirrors)) + (shadow === undefined ? "" : shadowFamilies(shadow));
}

function mirrorFamilies(mirrors: readonly MirrorCounts[]): string {
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
  read: (mirror: MirrorCounts) => Distribution,
): string {
  const name = `signalbox_${base}`;
  return familyHead(name, "histogram", help) + mirrors.map((mirror) => bucketLines(name, mirror, read(mirror))).join("");
}

function bucketLines(name: string, { rule, target }: MirrorCounts, { bounds, counts, sum, count }: Distribution): string {
  let total = 0;
  let text = "";
  for (let index = 0; index < counts.length; index++) {
    total += counts[index]!;
    const end = index < bounds.length ? String(bounds[index]) : "+Inf";
    text += sampleLine(`${name}_bucket`, [...LABELS, "le"], [rule, target, end], total);
  }
  text += sampleLine(`${name}_sum`, LABELS, [rule, target], sum);
  return text + sampleLine(`${name}_count`, LABELS, [rule, target], count);
}

function shadowFamilies(shadow: ShadowCounts): string {
  const { profile, decisions, disagreements, refusals, addedMs, savedMs, faults, skipped } = shadow;
  const counter = (base: string, help: string, value: number) => {
    const name = `signalbox_shadow_${base}_total`;
    return familyHead(name, "counter", help) + sampleLine(name, ["profile"], [profile], value);
  };
  return (
    counter("decisions", "Requests that the shadow profile decided too.", decisions) +
    counter("disagreements", "Decisions of the shadow profile that differ.", disagreements) +
    counter("refusals", "Those of them in which only one of the two profiles refuses.", refusals) +
    counter("added_seconds", "Expected seconds to the first token that the shadow's choices would have added.", addedMs / 1000) +
    counter("saved_seconds", "Expected seconds to the first token that the shadow's choices would have saved.", savedMs / 1000) +
    counter("faults", "Decisions in which a plugin of the shadow profile failed.", faults) +
    counter("skipped", "Requests that the shadow profile did not decide because it takes too much time.", skipped)
  );
}
