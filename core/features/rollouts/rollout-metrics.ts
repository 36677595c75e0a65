import type { MetricFamily } from "../../contract/metric-family.ts";
import type { TargetMapping } from "../../contract/rewriter.ts";
import type { GuardState, TargetFigures } from "./rollout.ts";
import type { Rollouts } from "./rollouts.ts";

/** One target of a rule, with what is known of it. */
interface Row {
  readonly values: readonly [rule: string, target: string];
  readonly figures: TargetFigures | undefined;
  readonly guard: GuardState | undefined;
}

interface Family extends Pick<MetricFamily, "name" | "type" | "help"> {
  /** Undefined or null for a target without it. */
  readonly read: (row: Row) => number | undefined | null;
}

/** Counters begin anew when a rule's targets become other ones, as after a restart. */
const FAMILIES: readonly Family[] = [
  {
    name: "rewrite_target_requests_total",
    type: "counter",
    help: "Requests of a rule to a target; begins anew with another set of targets.",
    read: ({ figures }) => figures?.requests,
  },
  {
    name: "rewrite_target_errors_total",
    type: "counter",
    help: "Requests to a target that replicas failed, or for which no replica was there.",
    read: ({ figures }) => figures?.errors,
  },
  {
    name: "rewrite_target_first_byte_median_seconds",
    type: "gauge",
    help: "Median time from the last byte of a request to the first body byte of its response.",
    read: ({ figures }) => figures?.ttftMs && figures.ttftMs.p50.value / 1000,
  },
  {
    name: "rewrite_target_first_byte_p95_seconds",
    type: "gauge",
    help: "95th percentile of the time from the last byte of a request to the first body byte of its response.",
    read: ({ figures }) => figures?.ttftMs && figures.ttftMs.p95.value / 1000,
  },
  {
    name: "rewrite_target_tokens_per_second",
    type: "gauge",
    help: "Mean over the streams of a target of generated tokens per second after the first byte.",
    read: ({ figures }) => figures?.tokensPerSecond?.mean.value,
  },
  {
    name: "rewrite_target_cached_ratio",
    type: "gauge",
    help: "Of the prompt tokens that replicas reported, the part that their cache held.",
    read: ({ figures }) => figures?.cachedShare,
  },
  {
    name: "guard_stopped",
    type: "gauge",
    help: "1 while a guard has stopped the target: its weight is 0 because it was worse.",
    read: ({ guard }) => guard && Number(guard.state === "stopped"),
  },
  {
    name: "guard_blocked",
    type: "gauge",
    help: "1 while a guard would stop the target, but may not.",
    read: ({ guard }) => guard && Number(guard.state === "blocked"),
  },
  {
    name: "guard_stops_total",
    type: "counter",
    help: "How often a guard has stopped the target.",
    read: ({ guard }) => guard?.stops,
  },
  {
    name: "guard_evidence_ratio",
    type: "gauge",
    help: "How much speaks for the target being worse, as a part of what stops it; the largest of the guard's tests.",
    read: ({ guard }) => guard && Math.max(...guard.tests.map(({ evidence, needed }) => evidence / needed)),
  },
];

/** What became of the requests of each rule's targets. All labels come from the config. */
export function rolloutMetrics(
  rollouts: Pick<Rollouts, "figuresOf" | "guardOf">,
  mappings: readonly TargetMapping[],
): readonly MetricFamily[] {
  // A rule may list a target twice, but two samples with the same labels are an error.
  const rows = new Map<string, Row>();
  for (const { name: rule, targets } of mappings) {
    for (const { name: target } of targets) {
      const values = [rule, target] as const;
      rows.set(JSON.stringify(values), { values, figures: rollouts.figuresOf(...values), guard: rollouts.guardOf(...values) });
    }
  }
  return FAMILIES.map(({ read, ...family }) => {
    const samples = [...rows.values()].map((row) => ({ values: row.values, value: read(row) ?? Number.NaN }));
    return { ...family, labels: ["rule", "target"], samples: samples.filter(({ value }) => !Number.isNaN(value)) };
  });
}
