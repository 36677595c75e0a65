/** One policy's mean times to the first token: of each simulated seed, and over sockets. */
export interface Compared {
  readonly name: string;
  readonly simulated: readonly number[];
  readonly live: number;
}

/** Two policies; the simulator says that the first one is faster. */
type Pair = readonly [faster: string, slower: string];

export interface Verdict {
  /** Pairs that the simulator orders the same way with every seed. */
  readonly clear: readonly Pair[];
  /** Those of them that are the other way round over sockets. */
  readonly swapped: readonly Pair[];
}

/** Whether policies come in the same order. Pairs whose simulated means overlap between seeds say nothing. */
export function orderVerdict(policies: readonly Compared[]): Verdict {
  const clear: Pair[] = [];
  const swapped: Pair[] = [];
  for (const one of policies) {
    for (const other of policies) {
      if (Math.max(...one.simulated) >= Math.min(...other.simulated)) continue;
      const pair: Pair = [one.name, other.name];
      clear.push(pair);
      // Also where a figure is missing.
      if (!(one.live < other.live)) swapped.push(pair);
    }
  }
  return { clear, swapped };
}

/** How late a run was, in milliseconds of real time; all but the last at the 99th percentile. */
export interface Lateness {
  /** Requests behind the time at which the trace has them. */
  readonly sendP99Ms: number;
  /** Turns of the event loops of the sender and of the replicas. */
  readonly senderLoopP99Ms: number;
  readonly replicasLoopP99Ms: number;
  /** The longest that one of these loops did not turn. */
  readonly longestStallMs: number;
}

/** In time of the trace: what is later than that is told of the machine, not of the policy. */
const MOST_LATE_S = 0.5;
/** A single standstill: routers eject replicas that are silent for longer. */
const MOST_STALL_S = 3;

/** Why the run's figures can't be trusted, or undefined. */
export function lateReason(lateness: Lateness, speed: number): string | undefined {
  const { sendP99Ms, senderLoopP99Ms, replicasLoopP99Ms, longestStallMs } = lateness;
  const reasons = [
    ["requests were sent late (p99)", sendP99Ms, MOST_LATE_S],
    ["the sender's event loop was late (p99)", senderLoopP99Ms, MOST_LATE_S],
    ["the replicas' event loop was late (p99)", replicasLoopP99Ms, MOST_LATE_S],
    ["an event loop stood still", longestStallMs, MOST_STALL_S],
  ] as const;
  const late = reasons.filter(([, ms, mostS]) => !(ms * speed <= mostS * 1000));
  if (late.length === 0) return undefined;
  return late.map(([what, ms]) => `${what}: ${((ms * speed) / 1000).toFixed(2)} s of the trace`).join(", ");
}
