import type { MetricFamily } from "../../../core/contract/metric-family.ts";
import type { ShadowTally } from "./shadow-tally.ts";

/** How the shadow profile differs; nothing for a config without one. */
export function shadowMetrics(shadow: ShadowTally | undefined): readonly MetricFamily[] {
  if (shadow === undefined) return [];
  const { profile, decisions, disagreements, refusals, addedMs, savedMs, faults, skipped } = shadow;
  const counter = (name: string, help: string, value: number): MetricFamily => {
    return { name: `shadow_${name}_total`, type: "counter", help, labels: ["profile"], samples: [{ values: [profile], value }] };
  };
  return [
    counter("decisions", "Requests that the shadow profile decided too.", decisions),
    counter("disagreements", "Decisions of the shadow profile that differ.", disagreements),
    counter("refusals", "Those of them in which only one of the two profiles refuses.", refusals),
    counter("added_seconds", "Expected seconds to the first token that the shadow's choices would have added.", addedMs / 1000),
    counter("saved_seconds", "Expected seconds to the first token that the shadow's choices would have saved.", savedMs / 1000),
    counter("faults", "Decisions in which a plugin of the shadow profile failed.", faults),
    counter("skipped", "Requests that the shadow profile did not decide because it takes too much time.", skipped),
  ];
}
