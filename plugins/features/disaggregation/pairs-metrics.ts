import type { MetricFamily } from "../../../core/contract/metric-family.ts";
import type { PairsTally } from "./pairs-tally.ts";

/** What has become of requests with prompts and answers apart; nothing for a config without pairs. */
export function pairsMetrics({
  paired,
  alone,
  unpairable,
  failed,
  causes,
  prefillSeconds,
  transferSeconds,
}: PairsTally): readonly MetricFamily[] {
  const results = Object.entries({ paired, alone, unpairable, failed });
  return [
    {
      name: "pairs_requests_total",
      type: "counter",
      help: "Requests by how prompts and answers were served: by a pair, by one endpoint because the decider said so, because nothing can be transferred for them, or because a pair failed.",
      labels: ["result"],
      samples: results.map(([result, value]) => ({ values: [result], value })),
    },
    {
      name: "pairs_failures_total",
      type: "counter",
      help: "Requests that a pair was to serve and one endpoint served, by the cause.",
      labels: ["cause"],
      samples: [...causes].map(([cause, value]) => ({ values: [cause], value })),
    },
    {
      name: "pairs_prefill_seconds",
      type: "histogram",
      help: "Seconds that prompts took on endpoints of their own.",
      labels: [],
      samples: [{ values: [], value: prefillSeconds }],
    },
    {
      name: "pairs_transfer_seconds",
      type: "histogram",
      help: "Seconds from the end of a prompt to the first token of its answer elsewhere, the transfer included.",
      labels: [],
      samples: [{ values: [], value: transferSeconds }],
    },
  ];
}
