import type { Ejection, Endpoint } from "../../../core/contract/endpoint.ts";
import { type EjectionStanding, type EndpointJudge, type JudgeHost, type JudgeRules, NOTHING } from "../../../core/judge.ts";
import type { LoadTable } from "../../../core/state/load.ts";
import { DEFAULT_RATE } from "../../../core/state/replica-speeds.ts";
import { type Traffic, UNWATCHED } from "../../../core/state/traffic.ts";
import { type EjectionSettings, ejectionSection } from "./ejection-config.ts";
import { Ejector, SWEEP_MS } from "./ejector.ts";
import { EndpointRecords } from "./endpoint-records.ts";
import { TrafficWatch } from "./traffic-watch.ts";

/** Ejection as the config has it: off, or on with what the traffic told since it was turned on. */
export class Ejections implements EndpointJudge {
  readonly #host: JudgeHost;
  #rules: JudgeRules;
  #endpoints: readonly Endpoint[] = [];
  /** Undefined while ejection is off. */
  #ejector: Ejector | undefined;
  #traffic: Traffic = UNWATCHED;
  /** Prompt tokens a millisecond. */
  #poolRate = DEFAULT_RATE;

  constructor(host: JudgeHost) {
    this.#host = host;
    this.#rules = host;
    if (this.#settings.isOn) this.#turnOn();
  }

  start(): () => void {
    const { clock } = this.#host.services;
    return clock.every(SWEEP_MS, () => this.#sweep(clock.now()));
  }

  get traffic(): Traffic {
    return this.#traffic;
  }

  /**
   * Judges by these rules from now on; ejections under way keep their length. Where ejection is turned off, all that are out
   * return; where it is turned on, nothing is known of any endpoint yet.
   */
  useRules(rules: JudgeRules): void {
    const wasOn = this.#ejector !== undefined;
    this.#rules = rules;
    if (wasOn === this.#settings.isOn) return;
    if (wasOn) {
      this.#ejector = undefined;
      this.#traffic = UNWATCHED;
    } else this.#turnOn();
    this.#ejector?.follow(this.#endpoints, this.#host.services.clock.now());
    for (const { name } of this.#endpoints) this.#host.changed(name);
  }

  follow(endpoints: readonly Endpoint[], nowMs: number): void {
    this.#endpoints = endpoints;
    this.#ejector?.follow(endpoints, nowMs);
  }

  standingOf(name: string): EjectionStanding {
    return this.#ejector?.standingOf(name) ?? NOTHING;
  }

  isSilent(endpoint: Endpoint): boolean {
    return this.#ejector?.isSilent(endpoint, this.#host.services.clock.now()) === true;
  }

  countOf(endpoint: Endpoint): number {
    return this.#ejector?.ejectionsOf(endpoint.name) ?? 0;
  }

  hear(name: string, ejection: Ejection | undefined): void {
    this.#ejector?.hear(name, ejection, this.#host.services.clock.now());
  }

  get isPanicking(): boolean {
    return this.#ejector?.isPanicking ?? false;
  }

  get #settings(): EjectionSettings {
    return ejectionSection.of(this.#rules.active.features);
  }

  #turnOn(): void {
    const { services, load } = this.#host;
    const records = new EndpointRecords();
    const ejector = new Ejector({
      ...this.#host,
      ...services,
      records,
      settings: () => this.#settings,
      detectors: () => this.#rules.detectors,
      workAheadMs: ({ slot }, nowMs) => load.remainingPrefill(slot, nowMs) / load.prefillRate(slot, nowMs),
      mayAnswer: (endpoint) => this.#rules.active.slots.plan.every(({ plugin }) => plugin.mayAnswer?.(endpoint) !== false),
      isLoading: ({ slot }) => load.unlisted.isLoading(slot),
    });
    this.#ejector = ejector;
    this.#traffic = new TrafficWatch({
      records,
      ejector,
      poolRate: () => this.#poolRate,
      endpoints: () => this.#endpoints,
    });
  }

  #sweep(nowMs: number): void {
    this.#poolRate = medianRate(this.#endpoints, this.#host.load, nowMs);
    this.#ejector?.sweep(nowMs);
  }
}

/** The median of the endpoints' measured speeds, in prompt tokens a millisecond. */
function medianRate(endpoints: readonly Endpoint[], load: LoadTable, nowMs: number): number {
  const rates = endpoints.map(({ slot }) => load.prefillRate(slot, nowMs)).sort((a, b) => a - b);
  return rates[Math.floor(rates.length / 2)] ?? DEFAULT_RATE;
}
