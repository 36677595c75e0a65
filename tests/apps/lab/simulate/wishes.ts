import type { LoadedConfig } from "../../../../config/load.ts";
import { z } from "../../../../core/contract/options.ts";
import { defineScorer } from "../../../../core/contract/plugin.ts";
import { loadSpec } from "./load-spec.ts";

/** The replica's slot that a request goes to: always, or only where the other scorers find no difference. */
export type Wish = readonly [slot: number, isFirm: boolean];

/** Above the weights of all other scorers. */
const WEIGHT = 1_000;
const SLIGHTLY = 1e-9;

/** The simulator's request ids are this prefix and the request's index in the trace. */
const ID_PREFIX = "simulated-";

/** A config with these scorers, and one that sends each request where it is wished for. */
export async function wishing(wishes: readonly (Wish | undefined)[], scorers: string): Promise<LoadedConfig> {
  const wish = defineScorer({
    type: "wish",
    summary: "Places requests",
    options: z.strictObject({}),
    create: () => ({
      score({ id }, candidates) {
        const [wished, isFirm] = wishes[Number(id.slice(ID_PREFIX.length))] ?? [];
        return candidates.map(({ slot }) => (slot === wished ? 1 : isFirm === true ? 0 : 1 - SLIGHTLY));
      },
    }),
  });
  const plugins = `  plugins: [ ${scorers}, { type: wish } ]\n`;
  const refs = [...scorers.matchAll(/type: ([a-z-]+)/g)].map(([, type]) => `{ pluginRef: ${type}, weight: 1 }`);
  const profile = `  profiles: [ { plugins: [ ${refs.join(", ")}, { pluginRef: wish, weight: ${WEIGHT} } ] } ]\n`;
  return loadSpec(`${plugins}${profile}`, [wish]);
}
