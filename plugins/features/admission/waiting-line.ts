import type { ActiveConfig } from "../../../core/active-config.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { ParsedBody } from "../../../core/contract/request.ts";
import type { WaitingPlace, WaitOwner } from "../../../core/contract/slots/admit.ts";
import type { WaitEnd, WaitRecord } from "../../../core/contract/wait-record.ts";
import type { RouterAccess } from "../../../core/router-host.ts";
import type { Run } from "../../../core/run.ts";
import { type AdmissionSettings, admissionSection } from "./admission-config.ts";
import { Discipline } from "./discipline.ts";
import { DrainRate } from "./drain-rate.ts";
import { LineHistory } from "./line-history.ts";
import { PoolRoom, type RoomOfModel } from "./pool-room.ts";
import { lineFull, waitedTooLong } from "./refusals.ts";
import { RoomNow } from "./room-now.ts";
import { type Standing, standingOf } from "./standing.ts";
import { KEPT, REASONS, UNREACHED } from "./wait-reasons.ts";
import { WaitTally } from "./wait-tally.ts";
import { type Line, Waiter } from "./waiter.ts";

/** How often the room is looked at that time alone makes, and who has waited too long. */
const TICK_MS = 50;
/** So many requests go on, or are sent away, before sockets are read again. */
const MOST_PER_TURN = 16;
/** A request's weight in the mean length of responses. */
const OUTPUT_WEIGHT = 1 / 64;

/** Requests that wait for room in the pool. Who comes while nobody waits, and finds room, leaves no trace here. */
export class WaitingLine implements Line {
  isOn = false;
  readonly tally = new WaitTally();
  readonly drain = new DrainRate();
  readonly history: LineHistory;
  readonly #host: RouterAccess;
  /** In the order in which they came. */
  readonly #all = new Set<Waiter>();
  readonly #byPriority = new Map<number, number>();
  /** Slots that may have got room since the last turn. */
  readonly #freed = new Set<number>();
  #bySlot: readonly (Endpoint | undefined)[] = [];
  #settings: AdmissionSettings | undefined;
  #room: PoolRoom | undefined;
  #discipline: Discipline | undefined;
  #bytes = 0;
  #outputTokens = 0;
  #isTurnDue = false;
  /** The next turn looks at all endpoints. */
  #isWholeDue = false;
  #stopTicks: (() => void) | undefined;

  constructor(host: RouterAccess) {
    this.#host = host;
    this.history = new LineHistory(host.services.clock.now());
  }

  get size(): number {
    return this.#all.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** How many wait, by priority. */
  get byPriority(): ReadonlyMap<number, number> {
    return this.#byPriority;
  }

  /** Milliseconds that the first one has waited; 0 without any. */
  get longestMs(): number {
    for (const { sinceMs } of this.#all) return this.#nowMs() - sinceMs;
    return 0;
  }

  /** Those that wait stay in line, in the order of the new config's plugin; without the section all go on. */
  use(config: ActiveConfig): void {
    const { load, facts, faults } = this.#host;
    const { admission } = config;
    const settings = admissionSection.of(config.features);
    this.isOn = settings !== undefined && admission !== undefined;
    this.#settings = settings;
    this.#room = this.isOn ? new PoolRoom(load, settings!, () => facts().endpoints, config) : undefined;
    this.#discipline = this.isOn ? new Discipline(admission!, this.#all, faults) : undefined;
    load.room = this.#room?.replicas;
    this.#wakeWhole();
  }

  follow(endpoints: readonly Endpoint[]): void {
    const bySlot: Endpoint[] = [];
    for (const endpoint of endpoints) bySlot[endpoint.slot] = endpoint;
    this.#bySlot = bySlot;
    this.#wakeWhole();
  }

  /** A place, for a request that has to wait. Throws a RouterError for one that can't even wait. */
  enter(run: Run, owner: WaitOwner): WaitingPlace | undefined {
    const { model } = run.parsed!;
    const nowMs = this.#nowMs();
    const isFirst = this.#all.size === 0;
    if (isFirst && this.#discipline!.hasNoCeilings && this.#mayGo(this.#room!.of(model, true, nowMs))) return undefined;
    const standing = standingOf(run.ticket.principal, model, run.head, this.#settings!);
    const { priority } = standing;
    const isTop = this.#discipline!.isTop(priority);
    const room = this.#room!.of(model, isFirst && isTop, nowMs);
    const mayGo = this.#mayGo(room);
    const isOpen = isTop || this.#discipline!.isOpen(priority, this.#room!, nowMs);
    if (isFirst && mayGo && isOpen) return undefined;
    const waiter = this.#join(run, owner, standing, nowMs, mayGo && !isOpen ? KEPT : REASONS[room]);
    // Others may wait for models that there is no room for: then this one is the next.
    if (mayGo) this.#wakeWhole();
    return waiter;
  }

  /** It has waited since its body came, so that it waits no longer than others. It goes on in a later turn, if there is room. */
  enterAgain(run: Run, owner: WaitOwner): WaitingPlace | undefined {
    const { waitsForReplicas, maxWaitMs } = this.#settings!;
    const sinceMs = run.ticket.times.bodyEndedAtMs;
    if (!waitsForReplicas || this.#nowMs() >= sinceMs + maxWaitMs) return undefined;
    const standing = standingOf(run.ticket.principal, run.parsed!.model, run.head, this.#settings!);
    const waiter = this.#join(run, owner, standing, sinceMs, UNREACHED);
    this.#wakeWhole();
    return waiter;
  }

  #join({ ticket, head, parsed }: Run, owner: WaitOwner, standing: Standing, sinceMs: number, reason: string): Waiter {
    const { model, promptTokens } = parsed!;
    const waiter = new Waiter(
      {
        ...standing,
        id: ticket.id,
        model,
        tokens: promptTokens + this.#expectedOutput(parsed!),
        bytes: ticket.requestBytes,
        headers: head,
        sinceMs,
        untilMs: sinceMs + this.#settings!.maxWaitMs,
        position: this.#placeOf(standing.priority),
        reason,
      },
      owner,
      this,
    );
    ticket.wait = waiter.record;
    this.#makePlaceFor(waiter, this.#nowMs());
    this.#add(waiter);
    return waiter;
  }

  left(waiter: Waiter): void {
    this.#discipline?.leave(waiter);
    this.#remove(waiter, "left");
  }

  /** A request has ended. What it took corrects what was expected. */
  settled(model: string, wait: WaitRecord | undefined, promptTokens: number, outputTokens: number): void {
    if (!this.isOn || !(outputTokens >= 0)) return;
    if (outputTokens > 0) this.#outputTokens += OUTPUT_WEIGHT * (outputTokens - this.#outputTokens);
    if (wait?.end === "admitted") this.#discipline!.spent({ ...wait, model }, promptTokens + outputTokens);
  }

  close(): void {
    this.#rest();
    this.#all.clear();
  }

  #nowMs(): number {
    return this.#host.services.clock.now();
  }

  #mayGo(room: RoomOfModel): boolean {
    return room === "free" || (room === "empty" && !this.#settings!.waitsForReplicas);
  }

  #expectedOutput({ maxOutputTokens }: ParsedBody): number {
    const mean = Math.round(this.#outputTokens);
    return maxOutputTokens > 0 ? Math.min(maxOutputTokens, mean) : mean;
  }

  #placeOf(priority: number): number {
    let before = 0;
    for (const [other, count] of this.#byPriority) if (other >= priority) before += count;
    return before + 1;
  }

  /** Sends the least important away until there is a place. Throws a RouterError if that is the newcomer. */
  #makePlaceFor(newcomer: Waiter, nowMs: number): void {
    const { maxRequests, maxBytes } = this.#settings!;
    for (let sent = 0; this.#all.size >= maxRequests || this.#bytes + newcomer.bytes > maxBytes; sent++) {
      const least = sent < MOST_PER_TURN && newcomer.bytes <= maxBytes ? this.#discipline!.least(newcomer) : newcomer;
      const error = lineFull(this.drain.secondsFor(this.#all.size + 1, nowMs));
      if (least === newcomer) {
        newcomer.over("shed", nowMs);
        this.tally.ended(newcomer.priority, "shed", 0);
        throw error;
      }
      this.#dismiss(least as Waiter, "shed", error);
    }
  }

  #add(waiter: Waiter): void {
    this.#all.add(waiter);
    this.#bytes += waiter.bytes;
    this.#byPriority.set(waiter.priority, (this.#byPriority.get(waiter.priority) ?? 0) + 1);
    this.#discipline!.join(waiter);
    this.history.waiting(this.#all.size, this.#nowMs());
    if (this.#stopTicks !== undefined) return;
    this.#host.load.freed = this.#hasRoom;
    this.#stopTicks = this.#host.services.clock.every(TICK_MS, () => this.#tick());
  }

  #remove(waiter: Waiter, end: WaitEnd): void {
    const nowMs = this.#nowMs();
    this.#all.delete(waiter);
    this.#bytes -= waiter.bytes;
    const left = this.#byPriority.get(waiter.priority)! - 1;
    if (left > 0) this.#byPriority.set(waiter.priority, left);
    else this.#byPriority.delete(waiter.priority);
    waiter.over(end, nowMs);
    this.tally.ended(waiter.priority, end, waiter.record.waitedMs);
    if (this.#all.size === 0) this.#rest();
  }

  /** Nobody waits: nothing is counted, and no timer runs. */
  #rest(): void {
    this.#stopTicks?.();
    this.#stopTicks = undefined;
    this.#host.load.freed = undefined;
    this.#freed.clear();
  }

  #dismiss(waiter: Waiter, end: WaitEnd, error: Error): void {
    this.#discipline?.leave(waiter);
    this.#remove(waiter, end);
    waiter.owner.failed(error);
  }

  #tick(): void {
    const nowMs = this.#nowMs();
    this.history.waiting(this.#all.size, nowMs);
    let left = MOST_PER_TURN;
    for (const waiter of this.#all) {
      if (left === 0) break;
      // One that was sent, and came back, may stand behind others that may wait longer.
      if (waiter.untilMs > nowMs) continue;
      left -= 1;
      this.#dismiss(waiter, "timed-out", waitedTooLong(this.drain.secondsFor(this.#all.size, nowMs)));
    }
    this.#wakeWhole();
  }

  readonly #hasRoom = (slot: number): void => {
    this.#freed.add(slot);
    this.#wake();
  };

  #wakeWhole(): void {
    if (this.#all.size === 0) return;
    this.#isWholeDue = true;
    this.#wake();
  }

  /** Later, because who gives room back is in the middle of its own work, and may want it again for another try. */
  #wake(): void {
    if (this.#isTurnDue) return;
    this.#isTurnDue = true;
    this.#host.nextTurn(() => this.#turn());
  }

  #turn(): void {
    this.#isTurnDue = false;
    const nowMs = this.#nowMs();
    const endpoints = this.#isWholeDue ? undefined : [...this.#freed].flatMap((slot) => this.#bySlot[slot] ?? []);
    this.#isWholeDue = false;
    this.#freed.clear();
    const room = this.#room && new RoomNow(this.#room, endpoints, this.#discipline!, nowMs);
    for (let gone = 0; gone < MOST_PER_TURN; gone++) {
      const next = this.#next(room);
      if (next === undefined) return;
      this.#goesOn(next, nowMs);
    }
    // There may be room for more of them.
    this.#wakeWhole();
  }

  #next(room: RoomNow | undefined): Waiter | undefined {
    // The section has left the config: nobody has to wait any more.
    if (room === undefined) return this.#all.values().next().value;
    return room.hasAny ? (this.#discipline!.take(room) as Waiter | undefined) : undefined;
  }

  #goesOn(waiter: Waiter, nowMs: number): void {
    this.#remove(waiter, "admitted");
    this.drain.wentOn(nowMs);
    waiter.owner.admitted();
  }
}
