import { Bounds, Histogram } from "../../../core/contract/histogram.ts";
import type { WaitEnd } from "../../../core/contract/wait-record.ts";

/** Seconds, in steps that Prometheus can add up. */
const SECONDS = new Bounds([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]);

/** Who a request is in figures: names of tenants and numbers of priorities come from clients, and could be any number of them. */
type Rank = "high" | "default" | "low";

export function rankOf(priority: number): Rank {
  if (priority === 0) return "default";
  return priority > 0 ? "high" : "low";
}

/** How waiting ended so far, and how long it took, by rank. */
export class WaitTally {
  readonly ends = new Map<Rank, Record<WaitEnd, number>>();
  readonly seconds = new Map<Rank, Histogram>();

  ended(priority: number, end: WaitEnd, waitedMs: number): void {
    const rank = rankOf(priority);
    const counts = this.ends.get(rank) ?? { admitted: 0, "timed-out": 0, shed: 0, left: 0 };
    this.ends.set(rank, counts);
    counts[end] += 1;
    if (end !== "admitted") return;
    const seconds = this.seconds.get(rank) ?? new Histogram(SECONDS);
    this.seconds.set(rank, seconds);
    seconds.add(waitedMs / 1000, 1);
  }
}
