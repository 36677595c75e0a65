import type { GuardState, TargetFigures } from "../../core/contract/rollout.ts";
import type { RouterView } from "../../core/contract/router-view.ts";
import { familyHead, sampleLine } from "./exposition.ts";

/** One target of a rule, with what is known of it. */
interface Row {
  readonly labels: readonly [rule: string, target: string];
  readonly figures: TargetFigures | undefined;
  readonly guard: GuardState | undefined;
}

interface Family {
  readonly name: string;
  readonly type: "counter" | "gauge";
  readonly help: string;
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
    help: "Requests to a target that replicas failed, or that no ready replica had while others were ready.",
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
export function rolloutMetrics({ config, features: { rollouts } }: Pick<RouterView, "config" | "features">): string {
  // A rule may list a target twice, but two samples with the same labels are an error.
  const rows = new Map<string, Row>();
  for (const { name: rule, targets } of config.mappings) {
    for (const { name: target } of targets) {
      const labels = [rule, target] as const;
      const row = { labels, figures: rollouts.figuresOf(...labels), guard: rollouts.guardOf(...labels) };
      rows.set(JSON.stringify(labels), row);
    }
  }
  return FAMILIES.map((family) => familyText(family, [...rows.values()])).join("");
}

function familyText({ name, type, help, read }: Family, rows: readonly Row[]): string {
  const full = `signalbox_${name}`;
  const samples = rows.map((row) => {
    const value = read(row);
    return value === undefined || value === null ? "" : sampleLine(full, ["rule", "target"], row.labels, value);
  });
  return familyHead(full, type, help) + samples.join("");
}
