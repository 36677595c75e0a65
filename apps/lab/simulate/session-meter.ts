import type { EngineTimes } from "../engine/engine-times.ts";
import { quantile } from "./metrics.ts";
import type { SessionTurn } from "./trace-session.ts";

export type SessionFigures = ReturnType<SessionMeter["figures"]>;

/** Times of one session's turns in milliseconds, with the times between them. */
interface SessionTimes {
  tookMs: number;
  /** What they would take with all replicas idle and everything cached that the session has sent before. */
  aloneMs: number;
}

const HOUR_MS = 3_600_000;

/** Measures sessions from the warm-up's end on. */
export class SessionMeter {
  turns = 0;
  readonly #model: EngineTimes;
  readonly #fromMs: number;
  readonly #turnMs: number[] = [];
  readonly #bySession = new Map<object, SessionTimes>();
  #sessions = 0;
  #unended = 0;
  #longestMs = 0;

  constructor(model: EngineTimes, fromMs: number) {
    this.#model = model;
    this.#fromMs = fromMs;
  }

  /** `session`: its run; undefined for a request of none. */
  ended(session: object | undefined, turn: SessionTurn | undefined, sinceMs: number, nowMs: number, timeScale: number): void {
    if (nowMs < this.#fromMs) return;
    this.turns += 1;
    this.#turnMs.push(nowMs - sinceMs);
    if (session === undefined || turn === undefined) return;
    const thinkMs = turn.thinkMs * timeScale;
    this.#add(session, thinkMs + nowMs - sinceMs, thinkMs + aloneMs(turn, this.#model));
  }

  /** A turn that is still under way at the end. Where it has taken longer than it would alone, the session's slowdown counts it. */
  unended(session: object | undefined, turn: SessionTurn | undefined, sinceMs: number, nowMs: number): void {
    const tookMs = nowMs - sinceMs;
    this.#unended += 1;
    this.#longestMs = Math.max(this.#longestMs, tookMs);
    if (session === undefined || turn === undefined) return;
    const alone = aloneMs(turn, this.#model);
    if (tookMs > alone) this.#add(session, tookMs, alone);
  }

  sessionEnded(nowMs: number): void {
    if (nowMs >= this.#fromMs) this.#sessions += 1;
  }

  figures(nowMs: number) {
    const hours = Math.max(1, nowMs - this.#fromMs) / HOUR_MS;
    const turnMs = Float64Array.from(this.#turnMs).sort();
    const slowdowns = Float64Array.from(this.#bySession.values(), ({ tookMs, aloneMs }) => tookMs / aloneMs).sort();
    const turnS = (share: number) => (quantile(turnMs, share) || 0) / 1000;
    const meanMs = turnMs.length === 0 ? 0 : turnMs.reduce((sum, ms) => sum + ms, 0) / turnMs.length;
    const slowdown = (share: number) => quantile(slowdowns, share) || 0;
    return {
      sessionsPerHour: this.#sessions / hours,
      turnsPerHour: this.turns / hours,
      /** From a turn's arrival to its end. */
      turnSeconds: { mean: meanMs / 1000, p50: turnS(0.5), p90: turnS(0.9), p99: turnS(0.99) },
      /** By session: the time of its turns and between them, against that alone on an idle pool that has cached what it sent before. */
      sessionSlowdown: { p50: slowdown(0.5), p90: slowdown(0.9), p99: slowdown(0.99) },
      /** Jain's index of the sessions' speeds, 1 / slowdown: 1 means that all are slowed down alike. */
      fairness: jainIndex(Array.from(slowdowns, (value) => 1 / value)),
      /** Turns under way at the end of the run, and the longest time that one of them has taken so far. */
      unended: { turns: this.#unended, longestSeconds: this.#longestMs / 1000 },
    };
  }

  #add(session: object, tookMs: number, alone: number): void {
    const times = this.#bySession.get(session);
    if (times === undefined) this.#bySession.set(session, { tookMs, aloneMs: alone });
    else {
      times.tookMs += tookMs;
      times.aloneMs += alone;
    }
  }
}

/** How long the turn takes on an idle replica that has cached what the session sent before. */
function aloneMs({ request, knownTokens }: SessionTurn, model: EngineTimes): number {
  const { prefillTokensPerS, chunkTokens, overheadMs, decodeStepMs, decodePerRequestMs } = model;
  const tokens = Math.max(1, request.prompt.tokens - knownTokens);
  const prefillMs = (tokens / prefillTokensPerS) * 1000 + Math.ceil(tokens / chunkTokens) * overheadMs;
  return prefillMs + (request.outputTokens - 1) * (decodeStepMs + decodePerRequestMs + overheadMs);
}

/** 1 for equal values, 1/n if one of n has everything; 1 without any. */
function jainIndex(values: readonly number[]): number {
  const sum = values.reduce((all, value) => all + value, 0);
  const squares = values.reduce((all, value) => all + value ** 2, 0);
  return squares === 0 ? 1 : sum ** 2 / (values.length * squares);
}
