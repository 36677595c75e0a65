import { setMaxListeners } from "node:events";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { EngineTimes } from "../../apps/lab/engine/engine-times.ts";
import { quantile } from "../../apps/lab/simulate/metrics.ts";
import { SessionArrivals, type SessionClock, type SessionLoop } from "../../apps/lab/simulate/session-arrivals.ts";
import type { SessionFigures } from "../../apps/lab/simulate/session-meter.ts";
import type { Trace, TraceRequest } from "../../apps/lab/simulate/trace.ts";

/** As in the simulator's settings; the loop's hours are of real time. */
interface ClosedLoop {
  readonly trace: Trace;
  readonly replicas: number;
  readonly timeScale: number;
  readonly model: EngineTimes;
  readonly seed: number;
  readonly loop: SessionLoop;
  /** Called when the warm-up is over. */
  readonly warmedUp?: () => void;
}

/** One turn for the sender. */
interface Sending {
  readonly request: TraceRequest;
  /** When the loop's time is over. */
  readonly signal: AbortSignal;
  /** Is called at the first token; tells whether this turn's first token is counted, because the warm-up is over. */
  firstToken(): boolean;
}

/** What came of it after the warm-up; times in milliseconds of real time. */
export interface Played {
  /** From a turn's arrival. */
  readonly firstTokenMs: readonly number[];
  /** Why turns have no complete response, one reason for each. */
  readonly failures: readonly string[];
  readonly figures: SessionFigures;
  /** By so much turns came after their time, and the event loop turned late. */
  readonly lateP99Ms: number;
  readonly loopP99Ms: number;
  readonly longestStallMs: number;
  readonly durationMs: number;
}

const HOUR_MS = 3_600_000;
const NANOS_PER_MS = 1e6;

/**
 * Plays the simulator's closed loop in real time: the same sessions in the same order, each turn some time after the end of the one
 * before. `send` resolves at a turn's end with why it failed, or "". What is under way when the time is over is given up.
 */
export async function playSessions(options: ClosedLoop, send: (sending: Sending) => Promise<string>): Promise<Played> {
  const clock = new WallClock();
  const arrivals = new SessionArrivals({ ...options, clock });
  const { hours, warmUpHours } = options.loop;
  const loop = monitorEventLoopDelay({ resolution: 5 });
  const firstTokenMs: number[] = [];
  const failures: string[] = [];
  const giveUp = new AbortController();
  setMaxListeners(0, giveUp.signal);
  const open = new Set<Promise<void>>();
  let isWarm = false;

  const arrive = (index: number) => {
    const sinceMs = clock.now();
    const firstToken = () => {
      if (isWarm) firstTokenMs.push(clock.now() - sinceMs);
      return isWarm;
    };
    const turn = send({ request: arrivals.requests[index]!, signal: giveUp.signal, firstToken }).then((failure) => {
      open.delete(turn);
      if (giveUp.signal.aborted) return;
      if (failure !== "") failures.push(failure);
      arrivals.ended(index);
    });
    open.add(turn);
  };

  clock.at(warmUpHours * HOUR_MS, () => {
    isWarm = true;
    clock.lateMs.length = 0;
    loop.enable();
    options.warmedUp?.();
  });
  arrivals.start(arrive);
  await new Promise<void>((resolve) => clock.at(hours * HOUR_MS, resolve));
  const durationMs = clock.now() - warmUpHours * HOUR_MS;
  const figures = arrivals.figures();
  clock.stop();
  loop.disable();
  giveUp.abort();
  await Promise.all(open);
  return {
    firstTokenMs,
    failures,
    figures,
    lateP99Ms: quantile(Float64Array.from(clock.lateMs).sort(), 0.99) || 0,
    loopP99Ms: loop.percentile(99) / NANOS_PER_MS,
    longestStallMs: loop.max / NANOS_PER_MS,
    durationMs,
  };
}

/** Real time from its making on. */
class WallClock implements SessionClock {
  /** How late each thing that was planned happened. */
  readonly lateMs: number[] = [];
  readonly #startMs = performance.now();
  readonly #timers = new Set<NodeJS.Timeout>();

  now(): number {
    return performance.now() - this.#startMs;
  }

  at(atMs: number, run: () => void): void {
    this.after(atMs - this.now(), run);
  }

  after(ms: number, run: () => void): void {
    const dueMs = this.now() + Math.max(0, ms);
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.lateMs.push(this.now() - dueMs);
      run();
    }, ms);
    this.#timers.add(timer);
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}
