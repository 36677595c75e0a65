import type { Named } from "../../active-config.ts";
import type { Detector, EndpointRecord } from "../../contract/detector.ts";
import type { Endpoint } from "../../contract/endpoint.ts";
import type { Log } from "../../contract/log.ts";
import type { Random } from "../../contract/profile-plugin.ts";
import type { EjectionSettings } from "../../settings.ts";
import { detect, isUnremarkable } from "./detect.ts";
import { bringsBack, decidesTrial, type EjectionStanding, NOTHING, newRow, type Row } from "./ejector-row.ts";
import type { EndpointRecords } from "./endpoint-records.ts";
import { isOut, neededAgain, servesAlone } from "./needed-again.ts";
import { warmUpOf } from "./warm-up.ts";

export interface EjectorOptions {
  readonly settings: EjectionSettings;
  readonly detectors: readonly Named<Detector>[];
  readonly records: EndpointRecords;
  readonly random: Random;
  readonly log: Log;
  /** Whether the probes let it be used. */
  readonly isHealthy: (name: string) => boolean;
  /** How long the prompts that were sent to the endpoint take by its measured speed, in milliseconds. */
  readonly workAheadMs: (endpoint: Endpoint, nowMs: number) => number;
  /** When the last byte came from it, on the router's clock; -Infinity before the first. */
  readonly lastByteMs: (endpoint: Endpoint) => number;
  /** The endpoint's standing is not what it was. */
  readonly changed: (name: string) => void;
  /** Requests that wait there without a byte of a response wait for nothing. */
  readonly cutWaiting: (endpoint: Endpoint) => void;
}

/** Ejections are shortened or lengthened by up to this share, so that endpoints that failed together don't return together. */
const JITTER = 0.2;
/** Of an equal share, what an ejected endpoint gets when too many are ejected: one that fails at once looks idle. */
const PANIC_SHARE = 0.25;
/** An ejected endpoint may be tried early, when another one must leave, but not sooner than this after its last failure. */
const EARLY_TRIAL_MS = 1_000;
/** How often `sweep` is called. */
export const SWEEP_MS = 500;
/** When it is called later than this, the process was suspended, or had no processor. */
const STANDSTILL_MS = 1_500;
/** An endpoint that joins a pool older than this warms up; before that, all are new. */
const YOUNG_POOL_MS = 10_000;

/**
 * Takes endpoints out of the pool for what their responses were, and lets them return with care: after its time an ejected one
 * gets one request on trial; if that succeeds, it gets a share of the traffic that grows with the tokens it has served.
 */
export class Ejector {
  readonly #options: EjectorOptions;
  #rows = new Map<string, Row>();
  /** The same rows by their endpoint's slot. */
  #bySlot: (Row | undefined)[] = [];
  #isPanicking = false;
  #sweptAtMs = Number.NaN;

  constructor(options: EjectorOptions) {
    this.#options = options;
  }

  /** Takes the pool as it is now. */
  follow(endpoints: readonly Endpoint[], nowMs: number): void {
    const rows = new Map<string, Row>();
    const hasSettled = [...this.#rows.values()].some(
      ({ stage, sinceMs, wasHealthy }) => stage === "in" && wasHealthy && nowMs - sinceMs > YOUNG_POOL_MS,
    );
    this.#bySlot = [];
    for (const endpoint of endpoints) {
      const known = this.#rows.get(endpoint.name);
      const isSame = known?.endpoint.generation === endpoint.generation;
      const row = known !== undefined && isSame ? known : newRow(endpoint, nowMs, known?.total ?? 0);
      row.endpoint = endpoint;
      const isHealthy = this.#options.isHealthy(endpoint.name);
      if (isHealthy && !row.wasHealthy && row.stage === "in" && hasSettled) this.#warm(row, nowMs);
      row.wasHealthy ||= isHealthy;
      rows.set(endpoint.name, row);
      this.#bySlot[endpoint.slot] = row;
    }
    this.#rows = rows;
    this.#useNeeded();
  }

  standingOf(name: string): EjectionStanding {
    const row = this.#rows.get(name);
    if (row === undefined || row.stage === "in") return NOTHING;
    if (row.stage === "warming") return { ...NOTHING, warmUp: this.#warmUp(row) };
    const isNeeded = row.isNeeded || (row.stage === "ejected" && this.#isPanicking);
    const isOnTrial = row.stage === "trial" && row.trialRequests === 0;
    return { ejection: row.ejection, isOnTrial, isNeeded, warmUp: isNeeded ? PANIC_SHARE : 1 };
  }

  /** Whether so many endpoints are bad that all that are up are used. */
  get isPanicking(): boolean {
    return this.#isPanicking;
  }

  /** Ejections of the endpoint so far. */
  ejectionsOf(name: string): number {
    return this.#rows.get(name)?.total ?? 0;
  }

  /** A request was sent there: the trial, if the endpoint is on trial. */
  sent(endpoint: Endpoint, nowMs: number): void {
    const row = this.#current(endpoint);
    if (row?.stage !== "trial") return;
    row.trialRequests += 1;
    row.triedAtMs = nowMs;
    this.#options.changed(endpoint.name);
  }

  /** A request that was sent at `sentAtMs` ended, and says nothing of the endpoint: another one is its trial. */
  ended(endpoint: Endpoint, sentAtMs: number): void {
    const row = this.#current(endpoint);
    if (row === undefined || !decidesTrial(row, sentAtMs)) return;
    row.trialRequests = Math.max(0, row.trialRequests - 1);
    this.#options.changed(endpoint.name);
  }

  /** A request that was sent at `sentAtMs` failed there: detectors look at the endpoint at once. */
  failed(endpoint: Endpoint, sentAtMs: number, nowMs: number): void {
    const row = this.#current(endpoint);
    if (row === undefined) return;
    if (decidesTrial(row, sentAtMs)) return this.#eject(row, row.ejection?.reason ?? "", false, nowMs);
    if (row.stage === "in" || row.stage === "warming") this.#examine(row, this.#recordsOfHealthy(nowMs), nowMs);
  }

  /** A request that was sent at `sentAtMs` succeeded there. */
  succeeded(endpoint: Endpoint, sentAtMs: number, nowMs: number): void {
    const row = this.#current(endpoint);
    if (row === undefined || !bringsBack(row, sentAtMs)) return;
    this.#options.records.forgive(endpoint);
    this.#warm(row, nowMs);
    this.#options.changed(row.endpoint.name);
  }

  /** Looks at all; called every SWEEP_MS. */
  sweep(nowMs: number): void {
    const { records, lastByteMs } = this.#options;
    const elapsedMs = Number.isNaN(this.#sweptAtMs) ? 0 : nowMs - this.#sweptAtMs;
    records.age(elapsedMs);
    if (elapsedMs > STANDSTILL_MS) this.#stoodStill(elapsedMs - SWEEP_MS, nowMs);
    this.#sweptAtMs = nowMs;
    for (const { endpoint } of this.#rows.values()) records.heard(endpoint, lastByteMs(endpoint));
    // Endpoints that were ejected may have been replaced, or fail their probes too: then panic can't wait for one that returns.
    const isAnyOut = [...this.#rows.values()].some((row) => row.ejection !== undefined && this.#isHealthy(row));
    if (!isAnyOut) this.#endPanic();
    const healthy = this.#recordsOfHealthy(nowMs);
    for (const row of this.#rows.values()) {
      if (row.stage === "ejected") this.#maybeTry(row, nowMs);
      else if (row.stage === "warming") this.#maybeSettle(row, nowMs);
      if (row.stage === "in" || row.stage === "warming") this.#examine(row, healthy, nowMs);
      else if (row.stage === "trial") this.#watchTrial(row, nowMs);
    }
    this.#useNeeded();
  }

  /** Undefined where another replica has the slot. */
  #current({ slot, generation }: Endpoint): Row | undefined {
    const row = this.#bySlot[slot];
    return row?.endpoint.generation === generation ? row : undefined;
  }

  #useNeeded(): void {
    const { settings, log, changed } = this.#options;
    const rows = [...this.#rows.values()];
    const needed = new Set(neededAgain(rows, settings.maxShare, (row) => this.#isHealthy(row)));
    for (const row of rows) {
      const isNeeded = needed.has(row);
      if (row.isNeeded === isNeeded) continue;
      row.isNeeded = isNeeded;
      const { name } = row.endpoint;
      if (isNeeded) log.warn("An ejected endpoint is used all the same: too few others are left", { endpoint: name });
      changed(name);
    }
  }

  /** This process did not run for so long, so what endpoints sent meanwhile is still unread: none of them was silent. */
  #stoodStill(lostMs: number, nowMs: number): void {
    this.#options.records.stoodStill(lostMs, nowMs);
    for (const row of this.#rows.values()) row.triedAtMs = Math.min(nowMs, row.triedAtMs + lostMs);
  }

  /** What is known of the endpoints that are up. Made once for all that are examined at the same time. */
  #recordsOfHealthy(nowMs: number): ReadonlyMap<Row, EndpointRecord> {
    const healthy = [...this.#rows.values()].filter((row) => this.#isHealthy(row));
    return new Map(healthy.map((row) => [row, this.#recordOf(row, nowMs)]));
  }

  #examine(row: Row, healthy: ReadonlyMap<Row, EndpointRecord>, nowMs: number): void {
    const record = healthy.get(row);
    // Nearly all of the time there is nothing to look at.
    if (record === undefined || isUnremarkable(record)) return;
    const others = [...healthy.values()].filter((other) => other !== record);
    const { detectors, log } = this.#options;
    const found = detect(detectors, record, others, log);
    if (found !== undefined) this.#eject(row, found.reason, found.cutsWaiting, nowMs);
  }

  /** A request on trial that gets no byte is a failed trial. Older ones that still wait there don't count. */
  #watchTrial(row: Row, nowMs: number): void {
    if (row.trialRequests === 0) return;
    const { quietMs, explainedQuietMs } = this.#recordOf(row, nowMs);
    if (Math.min(quietMs, nowMs - row.triedAtMs) > explainedQuietMs) this.#eject(row, row.ejection?.reason ?? "", true, nowMs);
  }

  #eject(row: Row, reason: string, cutsWaiting: boolean, nowMs: number): void {
    const { settings, random, changed, cutWaiting } = this.#options;
    const isAgain = row.stage === "trial";
    if (!isAgain && !this.#mayEject(row, nowMs)) return;
    // Long ago is forgotten, one ejection for each of its own lengths.
    if (row.stage === "in") row.count = Math.max(0, row.count - Math.floor((nowMs - row.sinceMs) / this.#lengthMs(row.count)));
    row.count += 1;
    row.total += 1;
    const lengthMs = this.#lengthMs(row.count) * (1 + JITTER * (2 * random() - 1));
    row.ejection = { reason, sinceMs: isAgain ? (row.ejection?.sinceMs ?? nowMs) : nowMs, untilMs: nowMs + lengthMs };
    row.stage = "ejected";
    row.sinceMs = nowMs;
    changed(row.endpoint.name);
    if (cutsWaiting && settings.cutWaiting) cutWaiting(row.endpoint);
  }

  /** Never more than the largest share of the pool, and never the last one that serves a model. */
  #mayEject(row: Row, nowMs: number): boolean {
    const up = [...this.#rows.values()].filter((one) => this.#isHealthy(one));
    const out = up.filter(isOut);
    const isTooMany = out.length + 1 > this.#options.settings.maxShare * up.length;
    if (isTooMany && out.length > 0) this.#makeRoom(out, up, nowMs);
    if (isTooMany) return false;
    const rest = up.filter((other) => other !== row && !out.includes(other));
    return !servesAlone(row, rest);
  }

  /** Another one should leave: those that are out longest may be well again, so they are tried now. If they were just now, panic. */
  #makeRoom(out: readonly Row[], up: readonly Row[], nowMs: number): void {
    const waiting = out.filter(({ stage, sinceMs }) => stage === "ejected" && nowMs - sinceMs >= EARLY_TRIAL_MS);
    for (const row of waiting) this.#try(row, nowMs);
    if (waiting.length === 0 && out.every(({ stage }) => stage === "ejected")) this.#panic(up);
  }

  /** Too many are bad to do without them: all that are up are used, until one of the ejected returns. */
  #panic(up: readonly Row[]): void {
    if (this.#isPanicking) return;
    this.#isPanicking = true;
    const { maxShare } = this.#options.settings;
    this.#options.log.warn("More endpoints fail than may be ejected: all that are up are used", { maxShare, up: up.length });
    for (const { endpoint, stage } of up) if (stage === "ejected") this.#options.changed(endpoint.name);
  }

  #maybeTry(row: Row, nowMs: number): void {
    if (row.ejection !== undefined && nowMs >= row.ejection.untilMs && this.#isHealthy(row)) this.#try(row, nowMs);
  }

  #try(row: Row, nowMs: number): void {
    row.stage = "trial";
    row.sinceMs = nowMs;
    row.trialRequests = 0;
    this.#options.changed(row.endpoint.name);
  }

  #warm(row: Row, nowMs: number): void {
    row.stage = "warming";
    row.sinceMs = nowMs;
    row.ejection = undefined;
    row.servedBefore = this.#options.records.served(row.endpoint);
    this.#endPanic();
  }

  #endPanic(): void {
    if (!this.#isPanicking) return;
    this.#isPanicking = false;
    for (const { endpoint } of this.#rows.values()) this.#options.changed(endpoint.name);
  }

  #maybeSettle(row: Row, nowMs: number): void {
    if (this.#warmUp(row) >= 1) {
      row.stage = "in";
      row.sinceMs = nowMs;
    }
    this.#options.changed(row.endpoint.name);
  }

  #warmUp({ endpoint, servedBefore }: Row): number {
    const { records, settings } = this.#options;
    return warmUpOf(records.served(endpoint), servedBefore, settings);
  }

  #lengthMs(count: number): number {
    const { baseMs, maxMs } = this.#options.settings;
    return Math.min(maxMs, baseMs * 2 ** Math.max(0, count - 1));
  }

  #isHealthy({ endpoint }: Row): boolean {
    return this.#options.isHealthy(endpoint.name);
  }

  #recordOf({ endpoint }: Row, nowMs: number): EndpointRecord {
    return this.#options.records.of(endpoint, this.#options.workAheadMs(endpoint, nowMs), nowMs);
  }
}
