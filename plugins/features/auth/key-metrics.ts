import type { MetricFamily } from "../../../core/contract/metric-family.ts";
import type { KeyCounts } from "./key-counts.ts";

/** What principals use; nothing before the first one has come. */
export function keyMetrics(rows: readonly KeyCounts[]): readonly MetricFamily[] {
  if (rows.length === 0) return [];
  const labels = ["key", "tenant"];
  const each = (read: (row: KeyCounts) => number) => rows.map((row) => ({ values: [row.name, row.tenant], value: read(row) }));
  const counter = (name: string, help: string, read: (row: KeyCounts) => number): MetricFamily => {
    return { name: `key_${name}_total`, type: "counter", help, labels, samples: each(read) };
  };
  const tokens = rows.flatMap(({ name, tenant, reportedTokens, estimatedTokens }) => [
    { values: [name, tenant, "reported"], value: reportedTokens },
    { values: [name, tenant, "estimated"], value: estimatedTokens },
  ]);
  const tokensHelp =
    "Tokens of prompts and outputs, as replicas report them, or as they are estimated of requests that broke off.";
  const flightHelp = "Requests of the key that are under way.";
  return [
    counter("requests", "Requests that showed the key.", ({ requests }) => requests),
    counter("refused", "Those of them that were refused for a limit of the key.", ({ refused }) => refused),
    { name: "key_tokens_total", type: "counter", help: tokensHelp, labels: [...labels, "source"], samples: tokens },
    { name: "key_in_flight", type: "gauge", help: flightHelp, labels, samples: each(({ inFlight }) => inFlight) },
  ];
}
