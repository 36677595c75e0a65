import type { Random } from "../../../core/contract/profile-plugin.ts";
import { seededRandom } from "../../../core/contract/test-kit.ts";
import type { EngineTimes } from "../engine/engine-times.ts";
import type { Arrivals } from "./arrivals.ts";
import { type SessionFigures, SessionMeter } from "./session-meter.ts";
import { MAX_BLOCKS, type Prompt, type Trace, type TraceRequest } from "./trace.ts";
import { SessionCopies, type SessionTurn, sessionsOf, type TraceSession } from "./trace-session.ts";

/** A fixed number of sessions is under way for some time. */
export interface SessionLoop {
  readonly perReplica: number;
  readonly hours: number;
  /** What ends before is not counted. */
  readonly warmUpHours: number;
}

/** Simulated time, or real time where replicas are real. */
export interface SessionClock {
  now(): number;
  at(atMs: number, run: () => void): void;
  after(ms: number, run: () => void): void;
}

interface SessionArrivalOptions {
  readonly trace: Trace;
  readonly clock: SessionClock;
  readonly timeScale: number;
  readonly model: EngineTimes;
  /** Decides the order in which sessions begin. */
  readonly seed: number;
  readonly replicas: number;
  /** Absent: each session runs once and begins when it did. */
  readonly loop: SessionLoop | undefined;
}

/** One run of a session. */
interface SessionRun {
  readonly session: TraceSession;
  readonly headers: Readonly<Record<string, string>>;
  readonly renamed: (prompt: Prompt) => Prompt;
  turnsLeft: number;
}

/** A turn that has come, or a request of no session. */
interface Arrived {
  readonly run: SessionRun | undefined;
  readonly at: number;
  readonly sinceMs: number;
}

const HOUR_MS = 3_600_000;
/** Between a session's end and the next one's beginning, so that time passes even where every turn is refused. */
const PAUSE_MS = 1_000;
/** By which the router knows the session. */
const SESSION_HEADER = "x-session-id";

/** A closed loop: a session's turn comes some time after the end of the one before, so a slow pool gets fewer of them. */
export class SessionArrivals implements Arrivals {
  readonly requests: TraceRequest[] = [];
  readonly lastMs = 0;
  readonly #clock: SessionClock;
  readonly #timeScale: number;
  readonly #random: Random;
  readonly #sessions: readonly TraceSession[];
  readonly #alone: readonly TraceRequest[];
  readonly #copies: SessionCopies;
  readonly #runs = new Map<TraceSession, number>();
  readonly #open = new Map<number, Arrived>();
  readonly #endMs: number;
  readonly #warmUpMs: number;
  /** Sessions under way at once; 0: as they were recorded. */
  readonly #atOnce: number;
  readonly #meter: SessionMeter;
  /** Sessions that begin next, in turn. */
  #deck: TraceSession[] = [];
  #left = 0;
  #arrive: (index: number) => void = () => {};

  constructor({ trace, clock, timeScale, model, seed, replicas, loop }: SessionArrivalOptions) {
    this.#clock = clock;
    this.#timeScale = timeScale;
    this.#random = seededRandom(seed ^ 0x5e55);
    this.#sessions = sessionsOf(trace);
    this.#alone = loop === undefined ? trace.requests.filter(({ turn }) => turn === undefined) : [];
    this.#copies = new SessionCopies(this.#sessions);
    this.#atOnce = loop === undefined ? 0 : loop.perReplica * replicas;
    this.#endMs = loop === undefined ? Number.POSITIVE_INFINITY : loop.hours * HOUR_MS;
    this.#warmUpMs = loop === undefined ? 0 : loop.warmUpHours * HOUR_MS;
    this.#meter = new SessionMeter(model, this.#warmUpMs);
  }

  get isOver(): boolean {
    return this.#atOnce > 0 ? this.#clock.now() >= this.#endMs : this.#left === 0;
  }

  get share(): number {
    return this.#atOnce > 0 ? this.#clock.now() / this.#endMs : 1 - this.#left / (this.#sessions.length + this.#alone.length);
  }

  get counted(): number {
    return this.#meter.turns;
  }

  start(arrive: (index: number) => void): void {
    this.#arrive = arrive;
    // The run ends then, also if nothing else happens.
    if (this.#atOnce > 0) this.#clock.at(this.#endMs, () => {});
    for (let begun = 0; begun < this.#atOnce; begun++) this.#beginNext();
    if (this.#atOnce > 0) return;
    this.#left = this.#sessions.length + this.#alone.length;
    for (const session of this.#sessions) this.#clock.at(session.startMs * this.#timeScale, () => this.#begin(session));
    for (const request of this.#alone) this.#clock.at(request.atMs * this.#timeScale, () => this.#came(request, undefined, 0));
  }

  ended(index: number): void {
    const { run, at, sinceMs } = this.#open.get(index)!;
    this.#open.delete(index);
    const nowMs = this.#clock.now();
    this.#meter.ended(run, run?.session.turns[at], sinceMs, nowMs, this.#timeScale);
    if (run === undefined) this.#left -= 1;
    else this.#goOn(run, at);
  }

  figures(): SessionFigures {
    const nowMs = this.#clock.now();
    for (const { run, at, sinceMs } of this.#open.values()) this.#meter.unended(run, run?.session.turns[at], sinceMs, nowMs);
    return this.#meter.figures(nowMs);
  }

  #goOn(run: SessionRun, ended: number): void {
    run.turnsLeft -= 1;
    this.#follow(run, ended);
    if (run.turnsLeft > 0) return;
    this.#meter.sessionEnded(this.#clock.now());
    this.#left -= 1;
    if (this.#atOnce > 0) this.#clock.after(PAUSE_MS, () => this.#beginNext());
  }

  #beginNext(): void {
    if (this.#deck.length === 0) this.#deck = shuffled(this.#sessions, this.#random);
    this.#begin(this.#deck.pop()!);
  }

  #begin(session: TraceSession): void {
    const runs = (this.#runs.get(session) ?? 0) + 1;
    this.#runs.set(session, runs);
    const name = runs === 1 ? session.name : `${session.name}.${runs}`;
    const renamed = runs === 1 ? (prompt: Prompt) => prompt : this.#copies.renaming(MAX_BLOCKS);
    const run = { session, headers: { [SESSION_HEADER]: name }, renamed, turnsLeft: session.turns.length };
    this.#follow(run, -1);
  }

  /** Plans the turns that come some time after this one. */
  #follow(run: SessionRun, ended: number): void {
    const { turns, followers } = run.session;
    for (const at of followers[ended + 1]!) {
      const turn = turns[at]!;
      this.#clock.after(turn.thinkMs * this.#timeScale, () => this.#turnCame(run, turn, at));
    }
  }

  #turnCame(run: SessionRun, { request }: SessionTurn, at: number): void {
    const atMs = this.#clock.now() / this.#timeScale;
    this.#came({ ...request, atMs, prompt: run.renamed(request.prompt), headers: run.headers }, run, at);
  }

  #came(request: TraceRequest, run: SessionRun | undefined, at: number): void {
    const index = this.requests.push(request) - 1;
    this.#open.set(index, { run, at, sinceMs: this.#clock.now() });
    this.#arrive(index);
  }
}

function shuffled<Value>(values: readonly Value[], random: Random): Value[] {
  const all = [...values];
  for (let at = all.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [all[at], all[other]] = [all[other]!, all[at]!];
  }
  return all;
}
