import { couldHold, type GateReplica, leastBusy, waitMs } from "./gate-replica.ts";
import { LearnedPauses } from "./learned-pauses.ts";
import type { HeardPlace, PlacedSession, Turn } from "./placed-session.ts";

/** Where a turn may go: a slot, or any replica. */
export const ANYWHERE = -1;

/** Who else waits when it is asked: nobody, others that came before, or others that come after. */
export type Standing = "alone" | "behind" | "next";

/** How often turns that wait are looked at. A replica that has less to compute than this takes would stand idle before the next look. */
export const LOOK_MS = 50;

/** Of more places at a replica than this, those that have paused longest go first: to put thousands in order takes too long. */
const MOST_SORTED = 64;

/**
 * Gives sessions places in replicas' caches, so that what has places fits. A session that pauses keeps its place until a turn waits for
 * the room, and the place is worth less than what the replica could compute meanwhile. Both sides are prompt tokens in a time: what
 * keeping the place saves, if the session comes back as sessions do after such a pause, and what the replica computes. A place that saves
 * something is kept for as long as the replica has other prompts to compute.
 */
export class PlaceGate {
  readonly #pauses = new LearnedPauses();
  /** By slot; the one whose last turn ended first is first. */
  readonly #placed: (Set<PlacedSession> | undefined)[] = [];
  readonly #held: number[] = [];
  readonly #cacheTokens: number[] = [];
  /** Tokens of turns under way that went anywhere. */
  #looseTokens = 0;
  /** Is told of a session that has got another place here, or lost its place. */
  readonly #moved: (session: PlacedSession) => void;

  constructor(moved: (session: PlacedSession) => void = () => {}) {
    this.#moved = moved;
  }

  /** Tokens of the sessions that have places there. */
  heldAt(slot: number): number {
    return this.#held[slot] ?? 0;
  }

  placesAt(slot: number): number {
    return this.#placed[slot]?.size ?? 0;
  }

  /**
   * Where the turn goes; undefined: it has to wait. While nobody waits a session with a place goes anywhere, so that nothing but the
   * profile decides: what is cached speaks for its place already, and load may speak for another one. So does a session without a place
   * where any replica has room for it, or could make room for less than it is worth. Who has no place, and comes while others wait, waits
   * behind them.
   */
  place(turn: Turn, standing: Standing, replicas: readonly GateReplica[], nowMs: number): number | undefined {
    const { session, tokens } = turn;
    for (const { slot, cacheTokens } of replicas) this.#cacheTokens[slot] = cacheTokens;
    if (replicas.some(({ slot }) => slot === session.slot)) {
      this.#begin(turn, session.slot, nowMs);
      return standing === "alone" ? ANYWHERE : session.slot;
    }
    // A prompt that no cache can hold gains nothing by a wait.
    if (!replicas.some((replica) => couldHold(replica, tokens))) return this.#anywhere(turn);
    if (standing === "behind") return undefined;
    // Those of which that is not known are taken to be spread evenly.
    const wanted = tokens + this.#looseTokens / replicas.length;
    const replica = this.#roomiest(wanted, replicas) ?? this.#cheapest(tokens, wanted, replicas, nowMs);
    if (replica === undefined) return undefined;
    if (standing === "alone") return this.#anywhere(turn);
    this.#makeRoom(replica.slot, tokens, nowMs);
    this.#begin(turn, replica.slot, nowMs);
    return replica.slot;
  }

  /** The turn goes on without a place; its session gets one where it is served. */
  goLoose(turn: Turn): void {
    turn.isOn = true;
    turn.isLoose = true;
    this.#looseTokens += turn.tokens;
  }

  /** The turn is over. `slot`: where it was served, -1 for nowhere. `tokens`: what the cache there holds of it. */
  ended(turn: Turn, slot: number, tokens: number, finishReason: string, nowMs: number): void {
    const { session, isOn, isLoose } = turn;
    if (!isOn) return;
    turn.isOn = false;
    if (isLoose) this.#looseTokens -= turn.tokens;
    else session.underWay -= 1;
    if (slot >= 0 && (isLoose || session.slot >= 0)) this.#move(session, slot, nowMs);
    session.idleSinceMs = nowMs;
    session.isOthers = false;
    session.finishReason = finishReason;
    if (session.slot < 0) return;
    this.#placed[session.slot]!.delete(session);
    this.#placed[session.slot]!.add(session);
    if (slot >= 0) this.#resize(session, tokens);
    // Nobody made room for it before.
    if (isLoose) this.#makeRoom(session.slot, 0, nowMs);
  }

  /** Another router says where the session is. What goes on here says more. */
  heard(session: PlacedSession, { slot, tokens, movedAtMs, finishReason, idleSinceMs, isElsewhere }: HeardPlace): void {
    session.isElsewhere = isElsewhere;
    if (session.underWay > 0) return;
    if (movedAtMs > session.movedAtMs) {
      session.movedAtMs = movedAtMs;
      if (slot < 0) this.forgotten(session);
      else this.#put(session, slot);
    }
    if (idleSinceMs > session.idleSinceMs) {
      session.idleSinceMs = idleSinceMs;
      session.finishReason = finishReason;
      session.isOthers = true;
    }
    if (session.slot < 0 || session.slot !== slot) return;
    this.#placed[slot]!.delete(session);
    this.#placed[slot]!.add(session);
    this.#resize(session, tokens);
  }

  /** The session has no place any more. */
  forgotten(session: PlacedSession): void {
    if (session.slot < 0) return;
    this.#placed[session.slot]!.delete(session);
    this.#held[session.slot]! -= session.tokens;
    session.slot = -1;
  }

  /** What was cached there is gone. */
  removed(slot: number): void {
    for (const session of this.#placed[slot] ?? []) session.slot = -1;
    this.#placed[slot] = undefined;
    this.#held[slot] = 0;
  }

  /** The slot that will soonest have room for the turn, by what is in use there and still to be computed; -1 for none. */
  nearest({ tokens }: Turn, replicas: readonly GateReplica[]): number {
    let nearest = -1;
    let least = Number.POSITIVE_INFINITY;
    for (const replica of replicas) {
      if (!couldHold(replica, tokens)) continue;
      const missing = Math.max(0, this.#usedAt(replica.slot) + tokens - replica.cacheTokens) + replica.backlogTokens;
      if (missing >= least) continue;
      least = missing;
      nearest = replica.slot;
    }
    return nearest;
  }

  #anywhere(turn: Turn): number {
    this.goLoose(turn);
    return ANYWHERE;
  }

  /** With room for so many tokens, the one that has least to compute. */
  #roomiest(wanted: number, replicas: readonly GateReplica[]): GateReplica | undefined {
    let best: GateReplica | undefined;
    for (const replica of replicas) {
      if (this.heldAt(replica.slot) + wanted > replica.cacheTokens) continue;
      if (best === undefined || waitMs(replica) < waitMs(best)) best = replica;
    }
    return best;
  }

  /**
   * The one where those who would have to go save least; undefined where keeping them saves more than the turn's work is. A replica that
   * has other prompts to compute counts only if they save hardly anything.
   */
  #cheapest(tokens: number, wanted: number, replicas: readonly GateReplica[], nowMs: number): GateReplica | undefined {
    // A turn that is twice as long as a session keeps the replica busy for twice as long, and needs twice the room.
    const share = tokens / this.#meanTokens;
    let best: GateReplica | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const replica of leastBusy(replicas)) {
      if (!couldHold(replica, tokens)) continue;
      const saved = this.#savedBy(replica, wanted, nowMs);
      // What those save until it has nothing else to compute, against what it computes between two looks.
      if (saved * waitMs(replica) > LOOK_MS * replica.tokensPerMs) continue;
      if (saved >= least || saved >= share * replica.tokensPerMs) continue;
      least = saved;
      best = replica;
    }
    return best;
  }

  /** Tokens a millisecond that those save who would have to go for so many; Infinity where too few could go. */
  #savedBy({ slot, cacheTokens }: GateReplica, tokens: number, nowMs: number): number {
    let missing = this.heldAt(slot) + tokens - cacheTokens;
    let saved = 0;
    for (const { session, rate } of this.#idle(slot, nowMs)) {
      if (missing <= 0) break;
      saved += rate * session.tokens;
      missing -= session.tokens;
    }
    return missing > 0 ? Number.POSITIVE_INFINITY : saved;
  }

  /** The cache does the same: what was not used for long goes first. */
  #makeRoom(slot: number, tokens: number, nowMs: number): void {
    const cacheTokens = this.#cacheTokens[slot]!;
    if (!(this.heldAt(slot) + tokens > cacheTokens)) return;
    for (const { session } of this.#idle(slot, nowMs)) {
      if (this.heldAt(slot) + tokens <= cacheTokens) return;
      if (!session.isOthers) this.#pauses.lost(session.finishReason, nowMs - session.idleSinceMs);
      this.#move(session, -1, nowMs);
    }
  }

  /** Sessions that pause; those that are least likely to come back soon are first, of very many those that have paused longest. */
  *#idle(slot: number, nowMs: number): Generator<{ readonly session: PlacedSession; readonly rate: number }> {
    const placed = this.#placed[slot] ?? [];
    const rate = (session: PlacedSession) => this.#pauses.rate(session.finishReason, nowMs - session.idleSinceMs);
    if (this.placesAt(slot) > MOST_SORTED) {
      for (const session of placed) if (session.isIdle) yield { session, rate: rate(session) };
      return;
    }
    const idle = Array.from(placed, (session) => ({ session, rate: rate(session) }));
    for (const each of idle.sort((one, other) => one.rate - other.rate)) if (each.session.isIdle) yield each;
  }

  /** Tokens of the sessions there that have a turn under way. */
  #usedAt(slot: number): number {
    let tokens = 0;
    for (const session of this.#placed[slot] ?? []) if (!session.isIdle) tokens += session.tokens;
    return tokens;
  }

  /** Of the sessions that have places; more than 0. */
  get #meanTokens(): number {
    let count = 0;
    let tokens = 0;
    for (const [slot, placed] of this.#placed.entries()) {
      count += placed?.size ?? 0;
      tokens += this.heldAt(slot);
    }
    return tokens > 0 ? tokens / count : 1;
  }

  #begin(turn: Turn, slot: number, nowMs: number): void {
    const { session, tokens } = turn;
    if (session.slot >= 0 && session.underWay === 0) this.#returned(turn, nowMs);
    turn.isOn = true;
    this.#move(session, slot, nowMs);
    session.underWay += 1;
    this.#resize(session, tokens);
  }

  /** -1: nowhere. */
  #move(session: PlacedSession, slot: number, nowMs: number): void {
    if (session.slot === slot) return;
    if (slot < 0) this.forgotten(session);
    else this.#put(session, slot);
    session.movedAtMs = nowMs;
    this.#moved(session);
  }

  #returned(turn: Turn, nowMs: number): void {
    const { session } = turn;
    this.#pauses.returned(session.finishReason, nowMs - session.idleSinceMs);
    turn.placedBefore = session.slot;
    for (const { tokens, underWay, idleSinceMs } of this.#placed[session.slot]!)
      if (underWay > 0 || idleSinceMs >= session.idleSinceMs) turn.usedTokens += tokens;
  }

  #put(session: PlacedSession, slot: number): void {
    if (session.slot === slot) return;
    this.forgotten(session);
    session.slot = slot;
    let placed = this.#placed[slot];
    if (placed === undefined) {
      placed = new Set();
      this.#placed[slot] = placed;
    }
    placed.add(session);
    this.#held[slot] = this.heldAt(slot) + session.tokens;
  }

  #resize(session: PlacedSession, tokens: number): void {
    this.#held[session.slot]! += tokens - session.tokens;
    session.tokens = tokens;
  }
}
