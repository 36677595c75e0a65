import type { Endpoint } from "../../contract/endpoint.ts";
import type { Log } from "../../contract/log.ts";
import type { Source } from "../../contract/source.ts";
import { thrownMessage } from "../../contract/thrown-text.ts";
import type { Probes } from "../../settings.ts";
import type { ReplicaHealth } from "./replica-health.ts";
import { type ProbePlan, type ProberHost, ReplicaProber } from "./replica-prober.ts";
import { groupSources } from "./source-facts.ts";

export interface ProberOptions extends ProberHost {
  readonly probes: Probes;
  readonly sources: readonly Source[];
  readonly log: Log;
  /** A replica's health has changed. */
  readonly changed: (name: string, health: ReplicaHealth) => void;
}

/** Of replicas that come together so many are probed first, and as many in each slice after it: a connection costs 0.1 ms. */
const SLICE = 32;
const SLICE_MS = 5;

/** Probes every replica that discovery lists. */
export class Prober {
  readonly #options: ProberOptions;
  #plan: ProbePlan;
  readonly #replicas = new Map<string, ReplicaProber>();

  constructor(options: ProberOptions) {
    this.#options = options;
    this.#plan = planOf(options.probes, options.sources);
  }

  /**
   * The config has changed. No replica goes out of service for that: health stays, and so does what a source read that has a
   * successor.
   */
  follow(probes: Probes, sources: readonly Source[], successors: ReadonlyMap<Source, Source>): void {
    // The same object where nothing is different, which lets the rounds go on as they are.
    const known = this.#plan.probes;
    this.#plan = planOf(areSame(known, probes) ? known : probes, sources);
    for (const replica of this.#replicas.values()) replica.follow(this.#plan, successors);
  }

  /** Takes the whole list: starts to probe new replicas, and stops for those not on it any more. */
  watch(targets: readonly Endpoint[]): void {
    const listed = new Map(targets.map((target) => [target.name, target]));
    for (const [name, replica] of this.#replicas) {
      const target = listed.get(name);
      if (target !== undefined && isSame(target, replica.target)) {
        replica.target = target;
        continue;
      }
      replica.stop();
      this.#replicas.delete(name);
    }
    const added = [...listed.values()].filter(({ name }) => !this.#replicas.has(name));
    for (const [index, target] of added.entries())
      this.#replicas.set(target.name, this.#probe(target, Math.floor(index / SLICE) * SLICE_MS));
  }

  /** Ends all probes and timers. */
  stop(): void {
    this.watch([]);
  }

  /** What probes this replica; undefined if it is not on the list. */
  of(target: Endpoint): ReplicaProber | undefined {
    const replica = this.#replicas.get(target.name);
    return replica !== undefined && isSame(target, replica.target) ? replica : undefined;
  }

  #probe(target: Endpoint, afterMs: number): ReplicaProber {
    return new ReplicaProber(this.#options, target, this.#plan, afterMs, (health) => this.#changed(target.name, health));
  }

  /** Logs a failure of the callback, so that probing goes on. */
  #changed(name: string, health: ReplicaHealth): void {
    try {
      this.#options.changed(name, health);
    } catch (thrown) {
      const cause = thrownMessage(thrown);
      this.#options.log.error("A change of a replica's health could not be applied", { endpoint: name, cause });
    }
  }
}

function isSame(one: Endpoint, other: Endpoint): boolean {
  return one.slot === other.slot && one.url.href === other.url.href;
}

function planOf(probes: Probes, sources: readonly Source[]): ProbePlan {
  return { probes, groups: groupSources(sources, probes.readiness) };
}

/** Plain data with the same keys in the same order. */
function areSame(one: Probes, other: Probes): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
