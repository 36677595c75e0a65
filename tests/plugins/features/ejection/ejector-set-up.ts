import type { Detector, EndpointRecord } from "../../../../core/contract/detector.ts";
import type { Endpoint } from "../../../../core/contract/endpoint.ts";
import { silentLog } from "../../../../core/contract/log.ts";
import { makeEndpoints } from "../../../../core/contract/test-kit.ts";
import type { WatchedTry } from "../../../../core/wire/watched-try.ts";
import { DEFAULT_EJECTION, type EjectionSettings } from "../../../../plugins/features/ejection/ejection-config.ts";
import { Ejector } from "../../../../plugins/features/ejection/ejector.ts";
import { EndpointRecords } from "../../../../plugins/features/ejection/endpoint-records.ts";

/** Three failures in a row. */
export const failing: Detector = {
  detect: ({ consecutiveFailures }) => (consecutiveFailures >= 3 ? `${consecutiveFailures} failures in a row` : undefined),
};

export class Setup {
  nowMs = 0;
  readonly endpoints: readonly Endpoint[];
  readonly records = new EndpointRecords();
  readonly changed: string[] = [];
  /** What is under way, by the endpoint's name, and what was cut of it. */
  readonly tries = new Map<string, WatchedTry[]>();
  readonly cut: string[] = [];
  /** When endpoints last sent a token. */
  readonly lastByteMs = new Map<string, number>();
  /** Endpoints that fail their probes, but not often enough to leave; the others pass one at each moment. */
  readonly failsProbes = new Set<string>();
  readonly probedSoon: string[] = [];
  isLoading = false;
  /** How long nothing may move. */
  mostQuietMs: (record: EndpointRecord) => number = () => 10_000;
  readonly logged: string[] = [];
  readonly unhealthy = new Set<string>();
  readonly ejector: Ejector;

  constructor(endpoints: readonly Endpoint[] = makeEndpoints(4), settings: Partial<EjectionSettings> = {}) {
    this.endpoints = endpoints;
    this.ejector = new Ejector({
      settings: () => ({ ...DEFAULT_EJECTION, ...settings }),
      detectors: () => [failing, this.#stuck].map((plugin, index) => ({ name: `d${index}`, type: "test", plugin })),
      records: this.records,
      // In the middle: no jitter.
      random: () => 0.5,
      log: { ...silentLog, warn: (message) => void this.logged.push(message) },
      isHealthy: (name) => !this.unhealthy.has(name),
      workAheadMs: () => 0,
      isLoading: () => this.isLoading,
      mayAnswer: ({ labels }) => labels["role"] !== "prefill",
      tries: {
        lastByteMs: ({ name }) => this.lastByteMs.get(name) ?? Number.NEGATIVE_INFINITY,
        triesAt: ({ name }) => [...(this.tries.get(name) ?? [])],
      },
      changed: (name) => void this.changed.push(name),
      probePassedMs: ({ name }) => (this.failsProbes.has(name) ? Number.NEGATIVE_INFINITY : this.nowMs),
      probeSoon: ({ name }) => void this.probedSoon.push(name),
    });
    this.ejector.follow(endpoints, 0);
  }

  readonly #stuck: Detector = {
    cutsWaiting: true,
    detect: (record) => (record.quietMs > this.mostQuietMs(record) ? "nothing moves" : undefined),
  };

  /** A request that gets no answer, or, with `isFlowing`, no more than it has. */
  hang(index: number, { isStream = true, isFlowing = false, target = "" } = {}): void {
    const endpoint = this.endpoints[index]!;
    const sinceMs = this.nowMs;
    const nowMs = () => this.nowMs;
    this.records.sent(endpoint, isStream, sinceMs, target);
    this.ejector.sent(endpoint, sinceMs);
    const tries = this.tries.get(endpoint.name) ?? [];
    this.tries.set(endpoint.name, tries);
    const hung: WatchedTry = {
      watchState: isFlowing ? "streaming" : "waiting",
      isStream,
      longestGapMs: 0,
      get silenceMs() {
        return nowMs() - sinceMs;
      },
      cut: () => {
        tries.splice(tries.indexOf(hung), 1);
        this.cut.push(`${endpoint.name} ${hung.watchState} ${hung.silenceMs}`);
        this.records.abandoned(endpoint, isStream, target);
        this.ejector.ended(endpoint, sinceMs);
      },
    };
    tries.push(hung);
  }

  fail(index: number, times = 3, sentAtMs = this.nowMs): void {
    const endpoint = this.endpoints[index]!;
    for (let i = 0; i < times; i++) {
      this.records.failed(endpoint, "reset", this.nowMs);
      this.ejector.failed(endpoint, sentAtMs, this.nowMs);
    }
  }

  succeed(index: number, tokens = 0, sentAtMs = this.nowMs): void {
    const endpoint = this.endpoints[index]!;
    this.records.succeeded(endpoint, tokens, this.nowMs);
    this.ejector.succeeded(endpoint, sentAtMs, this.nowMs);
  }

  /** Lets time pass, with the sweeps that come in it. */
  wait(ms: number): void {
    for (const endMs = this.nowMs + ms; this.nowMs < endMs; ) {
      this.nowMs = Math.min(endMs, this.nowMs + 500);
      this.ejector.sweep(this.nowMs);
    }
  }

  standing(index: number) {
    return this.ejector.standingOf(this.endpoints[index]!.name);
  }

  isOut(index: number): boolean {
    const { ejection, isOnTrial, isNeeded } = this.standing(index);
    return ejection !== undefined && !isOnTrial && !isNeeded;
  }
}
