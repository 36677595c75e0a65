import type { EndpointRecord } from "../../../core/contract/detector.ts";
import type { Ejection, Endpoint } from "../../../core/contract/endpoint.ts";
import type { Random } from "../../../core/contract/profile-plugin.ts";
import { lostMs } from "../../../core/contract/standstill.ts";
import type { EjectionStanding } from "../../../core/judge.ts";
import { type Detected, isUnremarkable } from "./detect.ts";
import { reconsider } from "./doubts.ts";
import {
  bringsBack,
  countedLengthMs,
  decidesTrial,
  hasSettled,
  isOut,
  newRow,
  pardon,
  type Row,
  standing,
  takeEjection,
} from "./ejector-row.ts";
import { Examiner, type ExaminerOptions } from "./examiner.ts";
import { servesAlone, useNeeded } from "./needed-rows.ts";
import { forgetGivenUp, isDoubted, isUnexplained, onTrial } from "./stuck-requests.ts";
import type { RequestEnds } from "./traffic-watch.ts";
import { isTrialDue, mayBeTried } from "./trials.ts";
import { warmUpOf } from "./warm-up.ts";

export interface EjectorOptions extends ExaminerOptions {
  readonly random: Random;
}

/** An ejected endpoint may be tried early, when another one must leave, but not sooner than this after its last failure. */
const EARLY_TRIAL_MS = 1_000;
/** How often `sweep` is called. */
export const SWEEP_MS = 500;

/**
 * Takes endpoints out of the pool for what their responses were, and lets them return with care: after its time an ejected one
 * gets one request on trial; if that succeeds, it gets a share of the traffic that grows with the tokens it has served.
 */
export class Ejector implements RequestEnds {
  readonly #options: EjectorOptions;
  readonly #examiner: Examiner;
  #rows = new Map<string, Row>();
  /** The same rows by their endpoint's slot. */
  #bySlot: (Row | undefined)[] = [];
  /** Whether so many endpoints are bad that all that are up are used. */
  isPanicking = false;
  #sweptAtMs = Number.NaN;

  constructor(options: EjectorOptions) {
    this.#options = options;
    this.#examiner = new Examiner(options);
  }

  /** Takes the pool as it is now. */
  follow(endpoints: readonly Endpoint[], nowMs: number): void {
    const rows = new Map<string, Row>();
    const isSettled = [...this.#rows.values()].some((row) => hasSettled(row, nowMs));
    this.#bySlot = [];
    for (const endpoint of endpoints) {
      const known = this.#rows.get(endpoint.name);
      const isSame = known?.endpoint.generation === endpoint.generation;
      const row = known !== undefined && isSame ? known : newRow(endpoint, nowMs, known?.total ?? 0);
      row.endpoint = endpoint;
      const isHealthy = this.#options.isHealthy(endpoint.name);
      if (isHealthy && !row.wasHealthy && row.stage === "in" && isSettled) this.#warm(row, nowMs);
      row.wasHealthy ||= isHealthy;
      rows.set(endpoint.name, row);
      this.#bySlot[endpoint.slot] = row;
    }
    this.#examiner.follow([...this.#rows.values()].filter((row) => rows.get(row.endpoint.name) !== row));
    this.#rows = rows;
    this.#useNeeded();
  }

  standingOf(name: string): EjectionStanding {
    const row = this.#rows.get(name);
    return standing(row, this.isPanicking, row?.stage === "warming" ? this.#warmUp(row) : 1);
  }

  /** Whether requests there got no token, and none has come since, or it is silent for longer than is explained. */
  isSilent(endpoint: Endpoint, nowMs: number): boolean {
    const row = this.#current(endpoint);
    return row !== undefined && (isDoubted(row) || isUnexplained(this.#examiner.recordOf(row, nowMs)));
  }

  /** Another router has ejected it, or has seen it work again (undefined). What speaks for either is not known here. */
  hear(name: string, ejection: Ejection | undefined, nowMs: number): void {
    const row = this.#rows.get(name);
    if (row === undefined || (ejection === undefined ? !isOut(row) : !isOut(row) && !this.#mayEject(row, nowMs))) return;
    if (ejection === undefined) this.#warm(row, nowMs);
    else takeEjection(row, ejection, this.#options.settings(), nowMs);
    this.#options.changed(name);
  }

  /** Ejections of the endpoint so far. */
  ejectionsOf(name: string): number {
    return this.#rows.get(name)?.total ?? 0;
  }

  sent(endpoint: Endpoint, nowMs: number): void {
    const row = this.#current(endpoint);
    if (row?.stage !== "trial") return;
    if (row.trialRequests === 0) row.triedAtMs = nowMs;
    row.trialRequests += 1;
    this.#options.changed(endpoint.name);
  }

  ended(endpoint: Endpoint, sentAtMs: number): void {
    const row = this.#current(endpoint);
    if (row === undefined || !decidesTrial(row, sentAtMs)) return;
    row.trialRequests = Math.max(0, row.trialRequests - 1);
    this.#options.changed(endpoint.name);
  }

  failed(endpoint: Endpoint, sentAtMs: number, nowMs: number): void {
    const row = this.#current(endpoint);
    if (row === undefined) return;
    this.#reconsider(row);
    if (decidesTrial(row, sentAtMs)) this.#ejectAgain(row, nowMs);
    else if (!isOut(row)) this.#examine(row, this.#recordsOfHealthy(nowMs), nowMs);
  }

  cleared(endpoint: Endpoint, retract: () => void, nowMs: number): void {
    const row = this.#current(endpoint);
    if (row === undefined || !isOut(row) || row.isStuck) return retract();
    if (!this.#examiner.isCleared(row, this.#recordsOfHealthy(nowMs), retract, nowMs)) return;
    pardon(row, nowMs);
    this.#endPanic();
    this.#options.changed(endpoint.name);
  }

  succeeded(endpoint: Endpoint, sentAtMs: number, nowMs: number): void {
    const row = this.#current(endpoint);
    if (row?.isDoubted) this.#reconsider(row);
    if (row === undefined || !bringsBack(row, sentAtMs)) return;
    this.#options.records.forgive(endpoint);
    this.#warm(row, nowMs);
    this.#options.changed(row.endpoint.name);
  }

  /** Looks at all; called every SWEEP_MS. */
  sweep(nowMs: number): void {
    const { records } = this.#options;
    const elapsedMs = Number.isNaN(this.#sweptAtMs) ? 0 : nowMs - this.#sweptAtMs;
    records.age(elapsedMs);
    const lost = lostMs(elapsedMs, SWEEP_MS);
    if (lost > 0) this.#stoodStill(lost, nowMs);
    this.#sweptAtMs = nowMs;
    this.#examiner.listen(this.#rows.values());
    // Panic ends too when the ejected endpoints were replaced or fail their probes: then none of them will return.
    const isAnyOut = [...this.#rows.values()].some((row) => row.ejection !== undefined && this.#isHealthy(row));
    if (!isAnyOut) this.#endPanic();
    const healthy = this.#recordsOfHealthy(nowMs);
    for (const row of this.#rows.values()) {
      if (row.stage === "ejected") this.#maybeTry(row, nowMs);
      else if (row.stage === "warming") this.#maybeSettle(row, nowMs);
      if (row.isDoubted) this.#reconsider(row);
      this.#examine(row, healthy, nowMs);
    }
    this.#examiner.sweep(this.#rows.values(), healthy, nowMs);
    this.#useNeeded();
  }

  #reconsider(row: Row): void {
    reconsider(row, this.#options.records, this.#options.changed);
  }

  /** Undefined where another replica has the slot. */
  #current({ slot, generation }: Endpoint): Row | undefined {
    const row = this.#bySlot[slot];
    return row?.endpoint.generation === generation ? row : undefined;
  }

  #useNeeded(): void {
    useNeeded([...this.#rows.values()], this.#options.settings().maxShare, this.#options, this.#options.log);
  }

  /** For this time the process did not run. What endpoints sent meanwhile is still unread, so none of them was silent. */
  #stoodStill(lostMs: number, nowMs: number): void {
    this.#options.records.stoodStill(lostMs, nowMs);
    for (const row of this.#rows.values()) row.triedAtMs = Math.min(nowMs, row.triedAtMs + lostMs);
  }

  /** What is known of the endpoints that are up. Made once for all that are examined at the same time. */
  #recordsOfHealthy(nowMs: number): ReadonlyMap<Row, EndpointRecord> {
    const healthy = [...this.#rows.values()].filter((row) => this.#isHealthy(row));
    return new Map(healthy.map((row) => [row, this.#examiner.recordOf(row, nowMs)]));
  }

  /** What the detectors say of it decides two things: whether it leaves, and, where it makes no progress, whom it loses. */
  #examine(row: Row, healthy: ReadonlyMap<Row, EndpointRecord>, nowMs: number): void {
    const record = healthy.get(row);
    // Nearly all of the time there is nothing to look at.
    if (record === undefined || isUnremarkable(record)) return;
    const others = [...healthy.values()].filter((other) => other !== record);
    const found = this.#examiner.found(record, others);
    const trialRecord = onTrial(row, record, nowMs);
    const isTrialOver =
      trialRecord !== undefined && (isUnexplained(trialRecord) || this.#examiner.found(trialRecord, others)?.isStuck === true);
    if (isTrialOver) this.#ejectAgain(row, nowMs);
    else if (found !== undefined && !isOut(row)) this.#eject(row, found, nowMs);
    if (found?.isStuck === true) this.#examiner.cut(row, record, healthy, nowMs);
  }

  /** It failed on trial. */
  #ejectAgain(row: Row, nowMs: number): void {
    this.#leave(row, row.ejection?.reason ?? "", row.ejection?.sinceMs ?? nowMs, nowMs);
  }

  /** It stays where too many others are out, or no other one serves a model. */
  #eject(row: Row, { reason, isStuck }: Detected, nowMs: number): void {
    if (!this.#mayEject(row, nowMs)) return;
    row.isStuck = isStuck;
    this.#leave(row, reason, nowMs, nowMs);
  }

  #leave(row: Row, reason: string, sinceMs: number, nowMs: number): void {
    const { settings, random, changed } = this.#options;
    const untilMs = nowMs + countedLengthMs(row, settings(), random(), nowMs);
    row.ejection = { reason, sinceMs, untilMs };
    row.stage = "ejected";
    row.sinceMs = nowMs;
    row.hasFailedProbe = false;
    changed(row.endpoint.name);
  }

  /** Never more than the largest share of the pool, and never the last one that serves a model. */
  #mayEject(row: Row, nowMs: number): boolean {
    const up = [...this.#rows.values()].filter((one) => this.#isHealthy(one));
    const out = up.filter(isOut);
    const isTooMany = out.length + 1 > this.#options.settings().maxShare * up.length;
    if (isTooMany && out.length > 0) this.#makeRoom(out, up, nowMs);
    if (isTooMany) return false;
    const rest = up.filter((other) => other !== row && !out.includes(other));
    return !servesAlone(row, rest, this.#options.mayAnswer);
  }

  /** Another endpoint should leave, so those that are out longest are tried now. If they were tried a moment ago: panic. */
  #makeRoom(out: readonly Row[], up: readonly Row[], nowMs: number): void {
    const waiting = out.filter(({ stage, sinceMs }) => stage === "ejected" && nowMs - sinceMs >= EARLY_TRIAL_MS);
    for (const row of waiting) if (mayBeTried(row, this.#options)) this.#try(row, nowMs);
    if (waiting.length === 0 && out.every(({ stage }) => stage === "ejected")) this.#panic(up);
  }

  /** So many fail that the others are too few: all that are up are used, until an ejected one returns. */
  #panic(up: readonly Row[]): void {
    if (this.isPanicking) return;
    this.isPanicking = true;
    const { maxShare } = this.#options.settings();
    this.#options.log.warn("More endpoints fail than may be ejected: all that are up are used", { maxShare, up: up.length });
    for (const { endpoint, stage } of up) if (stage === "ejected") this.#options.changed(endpoint.name);
  }

  #maybeTry(row: Row, nowMs: number): void {
    if (!this.#isHealthy(row)) row.hasFailedProbe = true;
    else if (isTrialDue(row, this.#options, this.#options.settings(), nowMs)) this.#try(row, nowMs);
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
    row.isStuck = false;
    forgetGivenUp(row);
    row.servedBefore = this.#options.records.served(row.endpoint);
    this.#endPanic();
  }

  #endPanic(): void {
    if (!this.isPanicking) return;
    this.isPanicking = false;
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
    return warmUpOf(records.served(endpoint), servedBefore, settings());
  }

  #isHealthy({ endpoint }: Row): boolean {
    return this.#options.isHealthy(endpoint.name);
  }
}
