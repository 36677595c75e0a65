import type { MetricFamily } from "../../../core/contract/metric-family.ts";
import { rankOf } from "./wait-tally.ts";
import type { WaitingLine } from "./waiting-line.ts";

/** Who waits for room, and how waiting ended; nothing for a config in which nobody waits. */
export function admissionMetrics(line: WaitingLine): readonly MetricFamily[] {
  if (!line.isOn) return [];
  const { tally } = line;
  const waiting = new Map<string, number>();
  for (const [priority, count] of line.byPriority) waiting.set(rankOf(priority), (waiting.get(rankOf(priority)) ?? 0) + count);
  const ranks = ["high", "default", "low"].map((rank) => ({ values: [rank], value: waiting.get(rank) ?? 0 }));
  const ends = [...tally.ends].flatMap(([rank, counts]) =>
    Object.entries(counts).map(([end, value]) => ({ values: [rank, end], value })),
  );
  const times = [...tally.seconds].map(([rank, value]) => ({ values: [rank], value }));
  const labels = ["priority"];
  return [
    { name: "admission_waiting", type: "gauge", help: "Requests that wait for room in the pool.", labels, samples: ranks },
    {
      name: "admission_waiting_bytes",
      type: "gauge",
      help: "Bodies of the requests that wait for room.",
      labels: [],
      samples: [{ values: [], value: line.bytes }],
    },
    {
      name: "admission_waits_total",
      type: "counter",
      help: "Requests that had to wait for room, by how that ended.",
      labels: ["priority", "end"],
      samples: ends,
    },
    {
      name: "admission_waited_seconds",
      type: "histogram",
      help: "Seconds that requests waited for room that went on then.",
      labels,
      samples: times,
    },
  ];
}
