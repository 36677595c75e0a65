/** What tells the time. */
export interface Time {
  /** Milliseconds on a clock that never jumps; only differences have a meaning. */
  now(): number;
  /** Milliseconds since 1970, for texts that people read. */
  wall(): number;
}

/**
 * Time. It is passed to all code that needs it, so that a test can control it.
 *
 * @example
 * const stop = host.clock.every(10_000, () => host.log.info("Ten seconds have passed"));
 */
export interface Clock extends Time {
  /** Calls `run` once after `ms`; the returned function cancels it. */
  after(ms: number, run: () => void): () => void;
  /** Calls `run` every `ms`; the returned function stops it. Never keeps the process alive. */
  every(ms: number, run: () => void): () => void;
}

/** Kept, because each reading of a global takes longer than the clock itself. */
const { performance } = globalThis;

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  every(ms, run) {
    const timer = setInterval(run, ms);
    // A browser's is a number, and so it is where a plugin is compiled without Node's types.
    (timer as unknown as { unref?(): void }).unref?.();
    return () => clearInterval(timer);
  },
};
