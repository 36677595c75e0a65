import { ENGINE_TIMES } from "../../../apps/lab/engine/engine-times.ts";
import type { SimulationSettings } from "../../../apps/lab/simulate/simulation.ts";
import type { Trace } from "../../../apps/lab/simulate/trace.ts";

/** Replicas that sessions of agents are put on. */
export interface Pool {
  readonly name: string;
  readonly replicas: number;
  readonly kvTokens: number;
  readonly speeds: readonly number[];
}

const USUAL: Pool = { name: "8 replicas of 524,288 tokens", replicas: 8, kvTokens: 524_288, speeds: [] };

/** The first one is the usual one. */
export const POOLS: readonly Pool[] = [
  USUAL,
  { ...USUAL, name: "4 replicas", replicas: 4 },
  { ...USUAL, name: "caches of 262,144 tokens", kvTokens: 262_144 },
  { ...USUAL, name: "caches of 2,000,000 tokens", kvTokens: 2_000_000 },
  { ...USUAL, name: "one replica at half speed", speeds: [0.5] },
];

export const SESSIONS_PER_REPLICA = [2, 4, 8, 16];
const HOURS = 2;

/** `perReplica`: undefined for a trace that is replayed as it was recorded. */
export function settingsOf({ replicas, kvTokens, speeds }: Pool, perReplica: number | undefined): SimulationSettings {
  return {
    ...{ replicas, speeds, timeScale: 1, seed: 1, tokenError: 0, faults: [] },
    model: { ...ENGINE_TIMES, kvTokens },
    ...(perReplica !== undefined && { sessions: { perReplica, hours: HOURS, warmUpHours: HOURS / 4 } }),
  };
}

/** The same with the header that clients name their session by. For traces of sessions that share nothing with one another. */
export function namedByFirstBlock(trace: Trace): Trace {
  const headers = new Map<number, Readonly<Record<string, string>>>();
  const requests = trace.requests.map((request) => {
    const block = request.prompt.blocks[0] ?? -1;
    const named = headers.get(block) ?? { "x-session-id": String(block) };
    headers.set(block, named);
    return { ...request, headers: named };
  });
  return { ...trace, name: `${trace.name}, sessions named`, requests };
}

/** The sessions that come first, third and so on in the trace, and the others. */
export function halvesOf(trace: Trace): readonly [first: Trace, others: Trace] {
  const places = new Map<string, number>();
  for (const { turn } of trace.requests)
    if (turn !== undefined && !places.has(turn.session)) places.set(turn.session, places.size);
  const half = (name: string, rest: number): Trace => {
    const requests = trace.requests.filter(({ turn }) => turn !== undefined && places.get(turn.session)! % 2 === rest);
    return { ...trace, name, requests };
  };
  return [half("first", 0), half("others", 1)];
}
