import type { MetricFamily } from "../../../core/contract/metric-family.ts";
import type { TargetMapping } from "../../../core/contract/rewriter.ts";
import { targetLabel } from "../../../core/report/target-label.ts";
import type { GuardState, RolloutStatus } from "./rollout-shapes.ts";

/** One target of a rule, with what is known of it. */
interface Row {
  readonly values: readonly [rule: string, target: string];
  readonly status: RolloutStatus;
}

/** `read`: undefined or null for a target without it. */
type Family = readonly [
  name: string,
  type: "counter" | "gauge",
  help: string,
  read: (status: RolloutStatus) => number | undefined | null,
];

const REQUESTS_HELP = "Requests of a rule to a target; begins anew with another set of targets.";
const ERRORS_HELP = "Requests to a target that replicas failed, or that no ready replica had while others were ready.";
const MEDIAN_HELP = "Median time from the last byte of a request to the first body byte of its response.";
const P95_HELP = "95th percentile of the time from the last byte of a request to the first body byte of its response.";
const TOKENS_HELP = "Mean over the streams of a target of generated tokens per second after the first byte.";
const CACHED_HELP = "Of the prompt tokens that replicas reported, the part that their cache held.";
const STOPPED_HELP = "1 while a guard has stopped the target: its weight is 0 because it was worse.";
const BLOCKED_HELP = "1 while a guard would stop the target, but may not.";
const EVIDENCE_HELP = "How much speaks for the target being worse, as a part of what stops it; the largest of the guard's tests.";

const evidenceOf = ({ tests }: GuardState) => Math.max(...tests.map(({ evidence, needed }) => evidence / needed));

/** Counters begin anew when a rule's targets become other ones, as after a restart. */
const FAMILIES: readonly Family[] = [
  ["rewrite_target_requests_total", "counter", REQUESTS_HELP, ({ figures }) => figures?.requests],
  ["rewrite_target_errors_total", "counter", ERRORS_HELP, ({ figures }) => figures?.errors],
  ["rewrite_target_first_byte_median_seconds", "gauge", MEDIAN_HELP, ({ figures: f }) => f?.ttftMs && f.ttftMs.p50.value / 1000],
  ["rewrite_target_first_byte_p95_seconds", "gauge", P95_HELP, ({ figures: f }) => f?.ttftMs && f.ttftMs.p95.value / 1000],
  ["rewrite_target_tokens_per_second", "gauge", TOKENS_HELP, ({ figures }) => figures?.tokensPerSecond?.mean.value],
  ["rewrite_target_cached_ratio", "gauge", CACHED_HELP, ({ figures }) => figures?.cachedShare],
  ["guard_stopped", "gauge", STOPPED_HELP, ({ guard }) => guard && Number(guard.state === "stopped")],
  ["guard_blocked", "gauge", BLOCKED_HELP, ({ guard }) => guard && Number(guard.state === "blocked")],
  ["guard_stops_total", "counter", "How often a guard has stopped the target.", ({ guard }) => guard?.stops],
  ["guard_evidence_ratio", "gauge", EVIDENCE_HELP, ({ guard }) => guard && evidenceOf(guard)],
];

/** What became of the requests of each rule's targets. All labels come from the config. */
export function rolloutMetrics(
  statusOf: (rule: string, target: string) => RolloutStatus,
  mappings: readonly TargetMapping[],
): readonly MetricFamily[] {
  // A rule may list a target twice, but two samples with the same labels are an error.
  const rows = new Map<string, Row>();
  for (const { name: rule, targets } of mappings) {
    for (const each of targets) {
      const target = targetLabel(each);
      const values = [rule, target] as const;
      rows.set(JSON.stringify(values), { values, status: statusOf(rule, target) });
    }
  }
  return FAMILIES.map(([name, type, help, read]) => {
    const samples = [...rows.values()].map((row) => ({ values: row.values, value: read(row.status) ?? Number.NaN }));
    return { name, type, help, labels: ["rule", "target"], samples: samples.filter(({ value }) => !Number.isNaN(value)) };
  });
}
