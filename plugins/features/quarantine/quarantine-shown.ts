import type { MetricFamily } from "../../../core/contract/metric-family.ts";
import { printable } from "../../../core/contract/printable.ts";
import { endpointsOf, type Quarantine, type Quarantined, requestsOf } from "./quarantine.ts";

/** Which prompts are refused now, and why. */
export function quarantineWarnings({ quarantined }: Quarantine): readonly string[] {
  return quarantined.map(warningOf);
}

function warningOf({ tenant, model, promptBytes, deaths, untilWallMs }: Quarantined): string {
  const whose = tenant === "" ? "" : ` of the tenant ${printable(tenant)}`;
  const until = new Date(untilWallMs).toISOString().slice(11, 19);
  return (
    `A prompt of ${promptBytes} bytes${whose} for ${printable(model)} is refused until ${until} UTC, because replicas died while they ` +
    `had it (${endpointsOf(deaths)}; requests ${requestsOf(deaths)}): their logs say why.`
  );
}

export function quarantineMetrics({ quarantined, counts }: Quarantine): readonly MetricFamily[] {
  const one = (value: number) => [{ values: [], value }];
  return [
    {
      name: "quarantined_prompts",
      type: "gauge",
      help: "Prompts that are refused now, because replicas died of them.",
      labels: [],
      samples: one(quarantined.length),
    },
    {
      name: "prompt_quarantines_total",
      type: "counter",
      help: "How often a prompt was quarantined, because replicas died of it.",
      labels: [],
      samples: one(counts.prompts),
    },
    {
      name: "quarantined_requests_total",
      type: "counter",
      help: "Requests that were refused, because their prompt was quarantined.",
      labels: [],
      samples: one(counts.refused),
    },
  ];
}
