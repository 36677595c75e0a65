import type { Endpoint } from "../../../../core/contract/endpoint.ts";
import type { Outcome } from "../../../../core/contract/outcome.ts";
import type { WaitingPlace, WaitOwner } from "../../../../core/contract/slots/admit.ts";
import type { WaitEnd } from "../../../../core/contract/wait-record.ts";
import type { RouterAccess } from "../../../../core/router-host.ts";
import type { Run } from "../../../../core/run.ts";
import { CacheRoom } from "./cache-room.ts";
import type { GateReplica } from "./gate-replica.ts";
import type { AskingSession, GatedSession, GatedTurn } from "./gated-turn.ts";
import { MOST_HEADS, OthersLines, type OthersTurn, type ToldTurn } from "./others-lines.ts";
import { ANYWHERE, LOOK_MS, PlaceGate, type Standing } from "./place-gate.ts";
import { type HeardPlace, PlacedSession, Turn } from "./placed-session.ts";
import { ReturningSources } from "./returning-sources.ts";
import { tenantsInTurn } from "./tenant-order.ts";

/** So many turns may wait. Those that come then go on without a place, as without a gate. */
const MOST_WAITING = 4_096;
/** So many are looked at before sockets are read again. */
const MOST_PER_LOOK = 16;

/** Turns that wait until a replica has room for their session. None is refused: one that has waited for too long goes on without a place. */
export class GatedLine {
  readonly counts = { waited: 0, late: 0 };
  readonly #host: RouterAccess;
  readonly #gate = new PlaceGate(({ owner }) => owner !== undefined && this.moved(owner));
  /** Is told of a session that has got another place here, or lost its place. */
  moved: (key: object) => void = () => {};
  /** Is told that somebody waits, with each look, and that nobody does any more. */
  lined: () => void = () => {};
  readonly others = new OthersLines();
  readonly #sessions = new WeakMap<object, GatedSession>();
  readonly #returning = new ReturningSources();
  /** Those that have come and not ended, by their ticket. */
  readonly #turns = new Map<Outcome, GatedTurn>();
  /** In the order in which they came. */
  readonly #waiting = new Set<GatedTurn>();
  /** Turns that go on, by tenant. */
  readonly #underWay = new Map<string, number>();
  /** By slot. */
  readonly #rooms: (CacheRoom | undefined)[] = [];
  #endpoints: readonly Endpoint[] = [];
  #maxWaitMs: number | undefined;
  #stopLooks: (() => void) | undefined;

  constructor(host: RouterAccess) {
    this.#host = host;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Sessions with a place at the endpoint. */
  placesAt(slot: number): number {
    return this.#gate.placesAt(slot);
  }

  /** Undefined: no turn has to wait. */
  use(maxWaitMs: number | undefined): void {
    this.#maxWaitMs = maxWaitMs;
  }

  /** A turn of this session has come: its place in line, if it has to wait. */
  enter(session: AskingSession, run: Run, owner: WaitOwner): WaitingPlace | undefined {
    if (this.#maxWaitMs === undefined) return undefined;
    const nowMs = this.#host.services.clock.now();
    const gated = this.#gatedTurn(session, session.tenant, run, owner, nowMs);
    this.#turns.set(run.ticket, gated);
    if (!this.#returning.seen(session.source, session.turns > 1)) {
      this.#goesLoose(gated);
      return undefined;
    }
    const standing = this.#waiting.size === 0 && this.others.heads(nowMs).length === 0 ? "alone" : "behind";
    if (this.#goesOn(gated, standing, this.#replicas(nowMs), nowMs)) return undefined;
    if (this.#waiting.size >= MOST_WAITING) {
      this.#goesLoose(gated);
      return undefined;
    }
    this.#waiting.add(gated);
    this.counts.waited += 1;
    run.ticket.wait = gated.record;
    this.#stopLooks ??= this.#host.services.clock.every(LOOK_MS, () => this.#look());
    return { leave: () => this.#left(gated) };
  }

  settled(outcome: Outcome): void {
    const gated = this.#turns.get(outcome);
    if (gated === undefined) return;
    this.#turns.delete(outcome);
    const { turn, session, tenant } = gated;
    if (turn.isOn) {
      const left = this.#turnsOf(tenant) - 1;
      if (left > 0) this.#underWay.set(tenant, left);
      else this.#underWay.delete(tenant);
    }
    const { usage, outputTokens, attempts, finishReason } = outcome;
    const nowMs = this.#host.services.clock.now();
    const served = attempts.at(-1)?.endpoint;
    const slot = this.#endpoints.find(({ name }) => name === served)?.slot ?? -1;
    const tokens = (usage?.promptTokens ?? turn.tokens) + (outputTokens || 0);
    if (slot >= 0 && slot === turn.placedBefore) this.#learnRoom(slot, turn, outcome, nowMs);
    this.#gate.ended(turn, slot, tokens, finishReason, nowMs);
    if (session === undefined) this.#gate.forgotten(turn.session);
    else session.turns -= 1;
  }

  /** The turns that have waited longest. */
  heads(): readonly ToldTurn[] {
    const nowMs = this.#host.services.clock.now();
    return tenantsInTurn(this.#waiting, MOST_HEADS, this.#turnsOf)
      .slice(0, MOST_HEADS)
      .map(({ turn, priority, sinceMs }) => ({ tokens: turn.tokens, priority, waitedMs: nowMs - sinceMs }));
  }

  /** Another router says where the session is. */
  heard(key: object, place: HeardPlace): void {
    if (this.#maxWaitMs !== undefined) this.#gate.heard(this.#sessionOf(key).placed, place);
  }

  /** Undefined where no turn of it has come. */
  placeOf(key: object): PlacedSession | undefined {
    return this.#sessions.get(key)?.placed;
  }

  forgotten(key: object): void {
    const session = this.#sessions.get(key);
    if (session !== undefined) this.#gate.forgotten(session.placed);
  }

  follow(endpoints: readonly Endpoint[]): void {
    for (const { slot, generation } of this.#endpoints)
      if (!endpoints.some((next) => next.slot === slot && next.generation === generation)) {
        this.#gate.removed(slot);
        this.#rooms[slot] = undefined;
      }
    this.#endpoints = endpoints;
  }

  close(): void {
    this.#stopLooks?.();
    this.#stopLooks = undefined;
    this.#waiting.clear();
  }

  #sessionOf(key: object): GatedSession {
    const known = this.#sessions.get(key);
    if (known !== undefined) return known;
    const session = { placed: new PlacedSession(key), turns: 0, promptTokens: 0 };
    this.#sessions.set(key, session);
    return session;
  }

  #gatedTurn(key: object, tenant: string, run: Run, owner: WaitOwner, sinceMs: number): GatedTurn {
    const session = this.#sessionOf(key);
    const { promptTokens } = run.parsed!;
    // A longer prompt goes on from the one under way; another one is a sub-agent's, with a place of its own.
    const goesOn = session.turns === 0 || promptTokens > session.promptTokens;
    if (goesOn) {
      session.turns += 1;
      session.promptTokens = promptTokens;
    }
    const priority = run.ticket.principal?.priority ?? 0;
    return {
      turn: new Turn(goesOn ? session.placed : new PlacedSession(), promptTokens),
      session: goesOn ? session : undefined,
      tenant,
      priority,
      sinceMs,
      run,
      owner,
      record: {
        tenant,
        priority,
        tokens: promptTokens,
        position: this.#waiting.size + 1,
        reason: "no replica's cache has room for its session",
        end: "",
        waitedMs: Number.NaN,
      },
    };
  }

  #replicas(nowMs: number): readonly GateReplica[] {
    const { load } = this.#host;
    const replicas: GateReplica[] = [];
    for (const { slot, isAvailable } of this.#endpoints) {
      if (!isAvailable) continue;
      replicas.push({
        slot,
        cacheTokens: (load.cacheTokens[slot] ?? Number.NaN) * (this.#rooms[slot]?.share(nowMs) ?? 1),
        backlogTokens: load.remainingPrefill(slot, nowMs),
        tokensPerMs: load.prefillRate(slot, nowMs),
      });
    }
    return replicas;
  }

  /** Whether the cache still had what the router sent there before. What it never had says nothing. */
  #learnRoom(slot: number, { usedTokens }: Turn, { usage, predictedTokens = 0 }: Outcome, nowMs: number): void {
    const cacheTokens = this.#host.load.cacheTokens[slot];
    const cachedTokens = usage?.cachedTokens;
    if (cacheTokens === undefined || cachedTokens === undefined || predictedTokens === 0) return;
    this.#rooms[slot] ??= new CacheRoom();
    this.#rooms[slot].seen(2 * cachedTokens >= predictedTokens, usedTokens, cacheTokens, nowMs);
  }

  readonly #turnsOf = (tenant: string): number => this.#underWay.get(tenant) ?? 0;

  #goesLoose({ turn, tenant }: GatedTurn): void {
    this.#gate.goLoose(turn);
    this.#underWay.set(tenant, this.#turnsOf(tenant) + 1);
  }

  #goesOn({ turn, run, tenant }: GatedTurn, standing: Standing, replicas: readonly GateReplica[], nowMs: number): boolean {
    const slot = this.#gate.place(turn, standing, replicas, nowMs);
    if (slot === undefined) return false;
    if (slot !== ANYWHERE) run.placedAt = slot;
    this.#underWay.set(tenant, this.#turnsOf(tenant) + 1);
    return true;
  }

  /** Who has waited longest goes first: the replica that suits it best is kept free for it. */
  #look(): void {
    const nowMs = this.#host.services.clock.now();
    const all = this.#replicas(nowMs);
    // Of those that have no room in sight, no two are kept the same replica.
    let replicas = all;
    const others = this.others.heads(nowMs).values();
    let other = others.next().value;
    for (const gated of tenantsInTurn(this.#waiting, MOST_PER_LOOK, this.#turnsOf)) {
      const { turn, sinceMs } = gated;
      if (this.#maxWaitMs === undefined || nowMs - sinceMs >= this.#maxWaitMs) {
        this.#goesLate(gated, nowMs);
        continue;
      }
      for (; other !== undefined && goesBefore(other, gated); other = others.next().value)
        replicas = without(replicas, this.#gate.nearest(other.turn, replicas));
      if (replicas.length === 0 && all.length > 0) break;
      // Without any replica in service it goes on, and fares as a request that comes now.
      const isPlaced = this.#goesOn(gated, "next", turn.session.slot >= 0 ? all : replicas, nowMs);
      const taken = isPlaced ? turn.session.slot : this.#gate.nearest(turn, replicas);
      replicas = without(replicas, taken);
      if (isPlaced) this.#admitted(gated, nowMs);
    }
    this.lined();
  }

  #goesLate(gated: GatedTurn, nowMs: number): void {
    this.counts.late += 1;
    this.#goesLoose(gated);
    this.#admitted(gated, nowMs);
  }

  #admitted(gated: GatedTurn, nowMs: number): void {
    this.#leaves(gated, "admitted", nowMs);
    gated.owner.admitted();
  }

  #left(gated: GatedTurn): void {
    if (this.#waiting.has(gated)) this.#leaves(gated, "left", this.#host.services.clock.now());
  }

  #leaves(gated: GatedTurn, end: WaitEnd, nowMs: number): void {
    this.#waiting.delete(gated);
    gated.record.end = end;
    gated.record.waitedMs = nowMs - gated.sinceMs;
    if (this.#waiting.size > 0) return;
    this.#stopLooks?.();
    this.#stopLooks = undefined;
  }
}

/** Whether the turn that waits at another router is kept a replica first. */
function goesBefore(other: OthersTurn, { priority, sinceMs }: GatedTurn): boolean {
  return other.priority > priority || (other.priority === priority && other.sinceMs < sinceMs);
}

function without(replicas: readonly GateReplica[], taken: number): readonly GateReplica[] {
  return replicas.filter(({ slot }) => slot !== taken);
}
