import type { ErrorCode } from "../../../core/contract/errors.ts";
import type { MetricFamily } from "../../../core/contract/metric-family.ts";
import { blameOf } from "../../../core/report/blame.ts";
import type { Ticket } from "../../../core/ticket.ts";

/** Why a request leaves a pool: the error that it would have got, or a replica's status. */
export type Reason = ErrorCode | number;

interface PoolCounts {
  requests: number;
  /** Of these, those that the router or a replica failed. */
  failed: number;
}

/** How many requests each pool got, and how many went on to another one. It outlives configs. */
export class PoolTally {
  readonly #pools = new Map<string, PoolCounts>();
  /** By where from, where to, and why. */
  readonly #fallbacks = new Map<string, { readonly from: string; readonly to: string; readonly reason: Reason; count: number }>();

  /** Forgets pools that are not among these. */
  follow(names: ReadonlySet<string>): void {
    for (const name of this.#pools.keys()) if (!names.has(name)) this.#pools.delete(name);
    for (const [key, { from, to }] of this.#fallbacks) if (!names.has(from) || !names.has(to)) this.#fallbacks.delete(key);
  }

  /** `pool`: the last one that it was in. */
  ended(pool: string, outcome: Ticket): void {
    const counts = this.#pools.get(pool) ?? { requests: 0, failed: 0 };
    this.#pools.set(pool, counts);
    counts.requests += 1;
    const blame = blameOf(outcome);
    if (blame === "router" || blame === "replica") counts.failed += 1;
  }

  fellBack(from: string, to: string, reason: Reason): void {
    const key = JSON.stringify([from, to, reason]);
    const known = this.#fallbacks.get(key) ?? { from, to, reason, count: 0 };
    this.#fallbacks.set(key, known);
    known.count += 1;
  }

  of(pool: string): Readonly<PoolCounts> {
    return this.#pools.get(pool) ?? { requests: 0, failed: 0 };
  }

  /** How many requests went on from there to other pools. */
  leftFrom(pool: string): number {
    return [...this.#fallbacks.values()].reduce((sum, { from, count }) => sum + (from === pool ? count : 0), 0);
  }

  metrics(names: readonly string[]): readonly MetricFamily[] {
    return [
      {
        name: "pool_requests_total",
        type: "counter",
        help: "Requests that have ended, by the last pool that they were in.",
        labels: ["pool"],
        samples: names.map((name) => ({ values: [name], value: this.of(name).requests })),
      },
      {
        name: "pool_fallbacks_total",
        type: "counter",
        help: "Requests that a pool could not serve and that went on to another one, by the error that they would have got, or the status with which a replica refused them.",
        labels: ["pool", "to", "error"],
        samples: [...this.#fallbacks.values()].map(({ from, to, reason, count }) => ({
          values: [from, to, String(reason)],
          value: count,
        })),
      },
    ];
  }
}
