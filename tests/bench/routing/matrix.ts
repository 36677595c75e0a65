import { ENGINE_TIMES } from "../../../apps/lab/engine/engine-times.ts";
import type { Fault } from "../../../apps/lab/simulate/faults.ts";
import type { SimulationSettings } from "../../../apps/lab/simulate/simulation.ts";
import { seededRandom } from "../../../core/contract/test-kit.ts";
import { SHARED_PROMPTS } from "./shared-prompt.ts";

/** What is wrong in a cell, beside its load. */
type Disturbance = "" | "half speed" | "token error" | "restarts";

/** One situation in which all policies are compared. */
export interface Cell {
  /** Path of the trace's file, or the name of one that `shared-prompt.ts` makes. */
  readonly trace: string;
  readonly timeScale: number;
  readonly replicas: number;
  readonly kvTokens: number;
  readonly disturbance: Disturbance;
}

const TIME_SCALES = [0.7, 1, 1.5];
export const REPLICAS = [4, 8, 16];
const KV_TOKENS = [262_144, 524_288, 2_000_000];
const DISTURBANCES: readonly Disturbance[] = ["half speed", "token error", "restarts"];
const USUAL = { timeScale: 1, replicas: 8, kvTokens: 524_288, disturbance: "" } as const;

const ENOUGH_REQUESTS = 4_000;
const MOST_SEEDS = 5;
/** Mean time between two restarts in the pool. */
const RESTART_EVERY_S = 300;
const TOKEN_ERROR = 0.3;

/**
 * The cells of each trace: every load with every number of replicas, except the highest load with the fewest, and each other size of
 * cache and each disturbance with eight replicas at the trace's own load. `isWhole`: every load with every number of replicas and
 * every size of cache.
 */
export function cellsOf(traces: readonly string[], isWhole: boolean): readonly Cell[] {
  return traces.flatMap((trace) => {
    const usual: Cell = { trace, ...USUAL };
    const sizes = isWhole ? KV_TOKENS : [usual.kvTokens];
    const loads = sizes.flatMap((kvTokens) =>
      REPLICAS.flatMap((replicas) => TIME_SCALES.map((timeScale) => ({ ...usual, kvTokens, replicas, timeScale }))),
    );
    const others = isWhole ? [] : KV_TOKENS.filter((kvTokens) => kvTokens !== usual.kvTokens);
    return [
      ...loads.filter(({ replicas, timeScale }) => isWhole || replicas > REPLICAS[0]! || timeScale > TIME_SCALES[0]!),
      ...others.map((kvTokens) => ({ ...usual, kvTokens })),
      ...DISTURBANCES.map((disturbance) => ({ ...usual, disturbance })),
    ];
  });
}

/** Those of prompts with one long beginning. */
export const SHARED_PROMPT_CELLS: readonly Cell[] = SHARED_PROMPTS.map((trace) => ({ trace, ...USUAL }));

/** The seeds to run a trace with: few requests are a matter of luck, so they are run again until there are many. */
export function seedsFor(requests: number): number {
  return Math.min(MOST_SEEDS, Math.ceil(ENOUGH_REQUESTS / requests));
}

/** `durationS`: the seconds that the trace takes at its own pace. */
export function settingsOf(
  { replicas, timeScale, kvTokens, disturbance }: Cell,
  seed: number,
  durationS: number,
): SimulationSettings {
  return {
    replicas,
    timeScale,
    seed,
    model: { ...ENGINE_TIMES, kvTokens },
    speeds: disturbance === "half speed" ? [0.5] : [],
    tokenError: disturbance === "token error" ? TOKEN_ERROR : 0,
    faults: disturbance === "restarts" ? restartsOf(durationS, replicas, seed) : [],
  };
}

/** Restarts of random replicas at random times, the same ones for the same seed; one on average in every five minutes. */
export function restartsOf(durationS: number, replicas: number, seed: number): readonly Fault[] {
  const random = seededRandom(seed ^ 0x7e57a7);
  return Array.from({ length: Math.max(1, Math.round(durationS / RESTART_EVERY_S)) }, () => {
    const replica = Math.floor(random() * replicas);
    return { replica, kind: "restart" as const, fromS: Math.floor(random() * durationS), untilS: undefined };
  });
}
