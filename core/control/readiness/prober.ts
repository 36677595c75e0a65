import type { Log } from "../../contract/log.ts";
import type { Source } from "../../contract/source.ts";
import { logReadiness } from "./readiness-log.ts";
import type { ReplicaHealth } from "./replica-health.ts";
import { type ProberHost, type ProbeTarget, ReplicaProber } from "./replica-prober.ts";
import { groupSources, type SourceGroup } from "./source-facts.ts";

export interface ProberOptions extends ProberHost {
  readonly sources: readonly Source[];
  readonly log: Log;
  /** A replica's health has changed. */
  readonly changed: (name: string, health: ReplicaHealth) => void;
  /** What an earlier prober knew about a replica, so that a reload takes no replica out of service. */
  readonly known?: (target: ProbeTarget) => ReplicaHealth | undefined;
}

/** Probes every replica that discovery lists. */
export class Prober {
  readonly #options: ProberOptions;
  readonly #groups: readonly SourceGroup[];
  readonly #replicas = new Map<string, ReplicaProber>();
  readonly #startedAtMs: number;

  constructor(options: ProberOptions) {
    this.#options = options;
    this.#startedAtMs = options.clock.now();
    this.#groups = groupSources(options.sources, options.probes.readiness);
  }

  /** Takes the whole list: starts to probe new replicas at once, and stops for those not on it any more. */
  watch(targets: readonly ProbeTarget[]): void {
    const listed = new Map(targets.map((target) => [target.name, target]));
    for (const [name, replica] of this.#replicas) {
      const target = listed.get(name);
      if (target !== undefined && isSame(target, replica.target)) continue;
      replica.stop();
      this.#replicas.delete(name);
    }
    for (const target of listed.values()) {
      if (!this.#replicas.has(target.name)) this.#replicas.set(target.name, this.#probe(target));
    }
  }

  /** A routed request could not connect to this replica. */
  connectFailed(target: ProbeTarget): void {
    this.#find(target)?.connectFailed();
  }

  healthOf(target: ProbeTarget): ReplicaHealth | undefined {
    return this.#find(target)?.health;
  }

  /** Ends all probes and timers. */
  stop(): void {
    this.watch([]);
  }

  #find(target: ProbeTarget): ReplicaProber | undefined {
    const replica = this.#replicas.get(target.name);
    return replica !== undefined && isSame(target, replica.target) ? replica : undefined;
  }

  #probe(target: ProbeTarget): ReplicaProber {
    const { known } = this.#options;
    return new ReplicaProber(this.#options, target, this.#groups, known?.(target), (health, before) => {
      const { clock, log } = this.#options;
      logReadiness(log, target.name, before, health, clock.now() - this.#startedAtMs);
      this.#changed(target.name, health);
    });
  }

  /** Logs a failure of the callback, so that probing goes on. */
  #changed(name: string, health: ReplicaHealth): void {
    try {
      this.#options.changed(name, health);
    } catch (thrown) {
      const cause = thrown instanceof Error ? thrown.message : String(thrown);
      this.#options.log.error("A change of a replica's health could not be applied", { endpoint: name, cause });
    }
  }
}

function isSame(one: ProbeTarget, other: ProbeTarget): boolean {
  return one.slot === other.slot && one.url.href === other.url.href;
}
