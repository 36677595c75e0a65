import type { Named } from "../../active-config.ts";
import type { Clock } from "../../contract/clock.ts";
import type { Detector } from "../../contract/detector.ts";
import type { Endpoint } from "../../contract/endpoint.ts";
import type { EjectionSettings } from "../../settings.ts";
import type { LoadTable } from "../../state/load.ts";
import { DEFAULT_RATE } from "../../state/replica-speeds.ts";
import { type Traffic, UNWATCHED } from "../../state/traffic.ts";
import { Ejector, type EjectorOptions, SWEEP_MS } from "./ejector.ts";
import { type EjectionStanding, NOTHING } from "./ejector-row.ts";
import { EndpointRecords } from "./endpoint-records.ts";
import { TrafficWatch } from "./traffic-watch.ts";

/** What the config says about ejections. */
export interface EjectionRules {
  readonly detectors: readonly Named<Detector>[];
  readonly ejection: EjectionSettings;
}

export interface EjectionOptions
  extends EjectionRules,
    Pick<EjectorOptions, "isHealthy" | "lastByteMs" | "changed" | "cutWaiting" | "cutStreams"> {
  readonly services: { readonly clock: Pick<Clock, "now" | "every"> } & Pick<EjectorOptions, "random" | "log">;
  readonly load: LoadTable;
}

/** Ejection as the config has it: off, or on with what the traffic told since it was turned on. */
export class Ejections {
  readonly #options: EjectionOptions;
  #rules: EjectionRules;
  #endpoints: readonly Endpoint[] = [];
  /** Undefined while ejection is off. */
  #ejector: Ejector | undefined;
  #traffic: Traffic = UNWATCHED;
  /** Prompt tokens a millisecond. */
  #poolRate = DEFAULT_RATE;

  constructor(options: EjectionOptions) {
    this.#options = options;
    this.#rules = options;
    if (options.ejection.isOn) this.#turnOn();
  }

  /** Examines the endpoints from now on, until the returned function is called. */
  start(): () => void {
    const { clock } = this.#options.services;
    return clock.every(SWEEP_MS, () => this.#sweep(clock.now()));
  }

  /** Is told of every try at an endpoint. */
  get traffic(): Traffic {
    return this.#traffic;
  }

  /**
   * Judges by these rules from now on; ejections under way keep their length. Where ejection is turned off, all that are out
   * return; where it is turned on, nothing is known of any endpoint yet.
   */
  useRules(rules: EjectionRules): void {
    const wasOn = this.#ejector !== undefined;
    this.#rules = rules;
    if (wasOn === rules.ejection.isOn) return;
    if (wasOn) {
      this.#ejector = undefined;
      this.#traffic = UNWATCHED;
    } else this.#turnOn();
    this.#ejector?.follow(this.#endpoints, this.#options.services.clock.now());
    for (const { name } of this.#endpoints) this.#options.changed(name);
  }

  /** Takes the pool as it is now. */
  follow(endpoints: readonly Endpoint[], nowMs: number): void {
    this.#endpoints = endpoints;
    this.#ejector?.follow(endpoints, nowMs);
  }

  standingOf(name: string): EjectionStanding {
    return this.#ejector?.standingOf(name) ?? NOTHING;
  }

  /** Ejections of the endpoint so far. */
  countOf(endpoint: Endpoint): number {
    return this.#ejector?.ejectionsOf(endpoint.name) ?? 0;
  }

  /** Whether so many endpoints fail that all that are up are used. */
  get isPanicking(): boolean {
    return this.#ejector?.isPanicking ?? false;
  }

  #turnOn(): void {
    const { services, load, isHealthy, lastByteMs, changed, cutWaiting, cutStreams } = this.#options;
    const records = new EndpointRecords();
    const rules = () => this.#rules;
    const ejector = new Ejector({
      get settings() {
        return rules().ejection;
      },
      get detectors() {
        return rules().detectors;
      },
      records,
      random: services.random,
      log: services.log,
      isHealthy,
      workAheadMs: ({ slot }, nowMs) => load.remainingPrefill(slot, nowMs) / load.prefillRate(slot, nowMs),
      isLoading: ({ slot }) => load.unlisted.isLoading(slot),
      lastByteMs,
      changed,
      cutWaiting,
      cutStreams,
    });
    this.#ejector = ejector;
    this.#traffic = new TrafficWatch({ records, ejector, poolRate: () => this.#poolRate });
  }

  #sweep(nowMs: number): void {
    this.#poolRate = medianRate(this.#endpoints, this.#options.load, nowMs);
    this.#ejector?.sweep(nowMs);
  }
}

/** The median of the endpoints' measured speeds, in prompt tokens a millisecond. */
function medianRate(endpoints: readonly Endpoint[], load: LoadTable, nowMs: number): number {
  const rates = endpoints.map(({ slot }) => load.prefillRate(slot, nowMs)).sort((a, b) => a - b);
  return rates[Math.floor(rates.length / 2)] ?? DEFAULT_RATE;
}
