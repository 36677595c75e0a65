import { z } from "../../core/contract/options.ts";

const share = z.number().min(0).max(1);

const holdback = z
  .strictObject({
    /** How a priority becomes a place between the ceilings: by its rank, by its value, or as `ceilings` says. */
    domain: z.enum(["rank", "value", "explicit"]).default("rank"),
    shape: z.literal("linear").optional(),
    /** Of the lowest priority and of the highest. */
    minCeiling: share.optional(),
    maxCeiling: share.optional(),
    /** By priority; one that is not there never goes on. */
    ceilings: z.record(z.string().regex(/^-?\d+$/, "a priority"), share).optional(),
  })
  .refine(({ domain, minCeiling }) => domain === "explicit" || minCeiling !== undefined, { error: "minCeiling is missing" })
  .refine(({ domain, ceilings }) => (domain === "explicit") === (ceilings !== undefined), {
    error: "ceilings go with domain: explicit, and only with it",
  });

/** The same for all; by priority; or lower for lower priorities as the pool fills (reflective). */
export const ceiling = z.union([share, z.literal("reflective"), holdback]);

export type Ceiling = z.infer<typeof ceiling>;
type CeilingOf = (priority: number, saturation: number) => number;

/** So many different priorities are told apart. */
const MOST_PRIORITIES = 64;

export function makeCeiling(chosen: Ceiling): CeilingOf {
  if (typeof chosen === "number") return () => chosen;
  const ranks = new Ranks();
  if (chosen === "reflective") return reflective(ranks);
  const { domain, minCeiling = 0, maxCeiling = 1, ceilings = {} } = chosen;
  if (domain === "explicit") return (priority) => ceilings[priority] ?? 0;
  return (priority) => {
    const height = domain === "rank" ? ranks.heightOf(priority) : ranks.heightOfValue(priority);
    return minCeiling + height * (maxCeiling - minCeiling);
  };
}

/** Below the highest priority, the ceiling comes down as the pool fills; beyond it, a part of the turns is left open. */
function reflective(ranks: Ranks): CeilingOf {
  const turns = new Map<number, number>();
  return (priority, saturation) => {
    const fall = 1 - ranks.heightOf(priority);
    if (fall === 0 || saturation < 1 - fall * saturation) return 1;
    if (saturation >= 1) return 0;
    const period = Math.max(1, Math.round(saturation / (1 - saturation)));
    const turn = (turns.get(priority) ?? 0) + 1;
    turns.set(priority, turn % period);
    return turn >= period ? 1 : 0;
  };
}

/** The priorities that were seen, the highest first. */
class Ranks {
  #seen: readonly number[] = [];

  /** From 1 for the highest to 0 for the lowest, in equal steps; 1 where there is only one. */
  heightOf(priority: number): number {
    this.#see(priority);
    const last = this.#seen.length - 1;
    return last === 0 ? 1 : 1 - this.#seen.indexOf(priority) / last;
  }

  /** The same by value. */
  heightOfValue(priority: number): number {
    this.#see(priority);
    const [most, least] = [this.#seen[0]!, this.#seen.at(-1)!];
    return most === least ? 1 : (priority - least) / (most - least);
  }

  #see(priority: number): void {
    if (this.#seen.includes(priority)) return;
    this.#seen = [...this.#seen.slice(0, MOST_PRIORITIES - 1), priority].sort((one, other) => other - one);
  }
}
