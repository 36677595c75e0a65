import type { Clock } from "../../../core/contract/clock.ts";
import type { MetricFamily } from "../../../core/contract/metric-family.ts";
import { Deadlines } from "../../../core/wire/deadlines.ts";
import type { UpstreamPool } from "../../../core/wire/upstream-pool.ts";
import type { WebSocketSettings } from "./websockets-config.ts";

/** How often it is looked whether nothing has passed for too long. */
const SWEEP_MS = 250;

/** What all WebSockets of a config share. */
export interface TunnelParts {
  readonly settings: WebSocketSettings;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly tunnels: Tunnels;
  /** After so long without a frame of the router's an end gets a ping; infinite for never. */
  readonly pingMs: number;
}

/** All WebSockets of a router: how many there are, and at which replicas. */
export class Tunnels {
  /** Clients' ends that are open. */
  open = 0;
  /** Carried to a replica since the start. */
  carried = 0;
  /** From clients to replicas. */
  receivedBytes = 0;
  readonly #clock: Clock;
  #deadlines: Deadlines | undefined;
  readonly #at = new Map<UpstreamPool, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Of clients' ends. */
  get deadlines(): Deadlines {
    this.#deadlines ??= new Deadlines(this.#clock, SWEEP_MS);
    return this.#deadlines;
  }

  close(): void {
    this.#deadlines?.close();
  }

  /** Connections to this replica. */
  countAt(pool: UpstreamPool): number {
    return this.#at.get(pool) ?? 0;
  }

  began(pool: UpstreamPool): void {
    this.#at.set(pool, this.countAt(pool) + 1);
  }

  ended(pool: UpstreamPool): void {
    const left = this.countAt(pool) - 1;
    if (left > 0) this.#at.set(pool, left);
    else this.#at.delete(pool);
  }

  metrics(): readonly MetricFamily[] {
    const family = (name: string, type: MetricFamily["type"], help: string, value: number): MetricFamily => {
      return { name: `websocket_${name}`, type, help, labels: [], samples: [{ values: [], value }] };
    };
    return [
      family("connections", "gauge", "WebSockets of clients that are open.", this.open),
      family("sessions_total", "counter", "WebSockets that a replica has accepted.", this.carried),
      family("received_bytes_total", "counter", "Bytes of WebSockets from clients to replicas.", this.receivedBytes),
    ];
  }
}
