import type { Clock } from "../../../core/contract/clock.ts";
import type { Random } from "../../../core/contract/profile-plugin.ts";
import {
  isInService,
  NEW_REPLICA,
  type ProbeEvent,
  type ReplicaHealth,
  reduce,
} from "../../../core/control/readiness/replica-health.ts";
import { BACKOFF_START_MS, jittered, roundPauseMs } from "../../../core/control/readiness/schedule.ts";
import type { Probes } from "../../../core/settings.ts";

export interface ProbeOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly probes: Probes;
  readonly models: readonly string[];
  /** A replica that is down refuses its probes; whatever else is wrong with it, it passes them. */
  readonly isDown: () => boolean;
  readonly changed: (health: ReplicaHealth) => void;
}

/**
 * The readiness probes of one replica, which is in service from the beginning. What a result means, and when the next probe is
 * due, the router's own code decides; responses take no time.
 */
export class Probe {
  readonly #options: ProbeOptions;
  #health: ReplicaHealth;
  /** Rounds in a row that did not bring the replica into service. */
  #misses = 0;
  #cancel: () => void = () => {};

  constructor(options: ProbeOptions) {
    const { probes, models } = options;
    const passed: readonly ProbeEvent[] = [
      { type: "models", models },
      { type: "startup", failure: undefined },
      { type: "readiness", failure: undefined },
    ];
    this.#options = options;
    this.#health = passed.reduce((health, event) => reduce(health, event, probes), NEW_REPLICA);
  }

  start(): void {
    this.#options.changed(this.#health);
    this.#next(jittered(this.#options.probes.readiness.periodMs, this.#options.random()));
  }

  /** A routed request could not connect. */
  connectFailed(): void {
    if (!isInService(this.#health)) return;
    this.#misses = 0;
    this.#next(jittered(BACKOFF_START_MS, this.#options.random()));
    this.#apply({ type: "connect-failed" });
  }

  #next(pauseMs: number): void {
    this.#cancel();
    this.#cancel = this.#options.clock.after(pauseMs, () => this.#round());
  }

  #round(): void {
    const { probes, random, isDown } = this.#options;
    this.#apply({ type: "readiness", failure: isDown() ? "refused" : undefined });
    this.#misses = isInService(this.#health) ? 0 : this.#misses + 1;
    this.#next(jittered(roundPauseMs(this.#health, this.#misses, probes), random()));
  }

  #apply(event: ProbeEvent): void {
    const before = this.#health;
    this.#health = reduce(before, event, this.#options.probes);
    if (this.#health !== before) this.#options.changed(this.#health);
  }
}
