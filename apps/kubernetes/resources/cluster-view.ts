import type { Clock } from "../../../core/contract/clock.ts";
import type { MetricFamily } from "../../../core/contract/metric-family.ts";
import type { Verdict } from "./verdicts.ts";

/** What is known of a cluster's resources now. */
export interface ClusterState {
  /** What became of each resource. */
  readonly verdicts: readonly Verdict[];
  /** Resources that are deleted, but used on, since the config can't run without them. */
  readonly keptNames: readonly string[];
  /** As in ResourceWatches. */
  readonly staleSinceMs: number | undefined;
  /** Whether this router writes the status of resources. */
  readonly isWriter: boolean;
}

/** What people see of a cluster's resources: in the status, on the page, in metrics. */
export function clusterView(cluster: ClusterState, clock: Clock) {
  return {
    // Of the router, not of a rule or a target.
    status: (rule?: string) => (rule === undefined ? { resources: resourcesStatus(cluster, clock) } : {}),
    warnings: () => warningsOf(cluster, clock),
    metrics: () => clusterMetrics(cluster),
  };
}

function resourcesStatus({ verdicts, keptNames, staleSinceMs, isWriter }: ClusterState, clock: Clock) {
  const staleS =
    staleSinceMs === undefined || Number.isNaN(staleSinceMs) ? null : Math.round((clock.now() - staleSinceMs) / 1000);
  return {
    // Whether the cluster's API server is watched now, and for how long it was not.
    isWatched: staleSinceMs === undefined,
    staleS,
    // Whether this router holds the Lease, so that it writes the status of resources.
    isWriter,
    // Deleted, but something else in the config needs them.
    kept: keptNames,
    resources: verdicts.map(({ resource, state, notes, isOlderUsed }) => ({
      name: resource.text.file,
      generation: resource.generation,
      state,
      notes,
      isOlderUsed,
    })),
  };
}

function warningsOf({ verdicts, keptNames, staleSinceMs }: ClusterState, clock: Clock): readonly string[] {
  const stale = staleSinceMs === undefined ? [] : [staleText(clock.now() - staleSinceMs)];
  return [
    ...stale,
    ...verdicts.filter(({ state }) => state === "rejected" || state === "refused").map(rejectedText),
    ...keptNames.map(
      (name) => `${name} is deleted, but something else in the config needs it: it is used on. See the log for what.`,
    ),
  ];
}

function staleText(ageMs: number): string {
  const how = "see the log for why the Kubernetes API can't be watched";
  if (Number.isNaN(ageMs)) return `The cluster's resources are not known yet: ${how}.`;
  return `The cluster's resources are those of ${Math.round(ageMs / 1000)} s ago: ${how}.`;
}

function rejectedText({ resource, notes: [first = "", ...others], isOlderUsed }: Verdict): string {
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  const now = isOlderUsed ? "its last good state runs" : "it is not used";
  return `${resource.text.file} can't run, so ${now}: ${first}${more}`;
}

const STATES = ["used", "rejected", "refused", "elsewhere"] as const;

export function clusterMetrics({ verdicts, staleSinceMs, isWriter }: ClusterState): readonly MetricFamily[] {
  const kinds = [...new Set(verdicts.map(({ resource }) => resource.regarding.kind))].sort();
  const counted = (kind: string, state: string) =>
    verdicts.filter((verdict) => verdict.resource.regarding.kind === kind && verdict.state === state).length;
  return [
    {
      name: "kubernetes_resources",
      type: "gauge",
      help: "Resources of the cluster by what became of them: used, rejected (it is wrong), refused (with others), elsewhere (another pool's).",
      labels: ["kind", "state"],
      samples: kinds.flatMap((kind) => STATES.map((state) => ({ values: [kind, state], value: counted(kind, state) }))),
    },
    {
      name: "kubernetes_resources_watched",
      type: "gauge",
      help: "1 while the cluster's resources are watched; 0 while those that were known last are used.",
      labels: [],
      samples: [{ values: [], value: staleSinceMs === undefined ? 1 : 0 }],
    },
    {
      name: "kubernetes_status_writer",
      type: "gauge",
      help: "1 while this router holds the Lease, so that it writes the status of resources.",
      labels: [],
      samples: [{ values: [], value: isWriter ? 1 : 0 }],
    },
  ];
}
