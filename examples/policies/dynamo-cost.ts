import type { Endpoint } from "../../core/contract/endpoint.ts";
import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";
import { cheapestFirst } from "./cheapest-first.ts";

/** Defaults of Dynamo's KV router (`--router-kv-overlap-score-credit` and so on). */
const options = z.strictObject({
  /** How much of a cached token is taken off. */
  overlapScoreCredit: z.number().min(0).max(1).default(1),
  prefillLoadScale: z.number().min(0).max(1_000).default(1),
  /** 0 takes the lowest cost; above it, costs are drawn from by softmax, with the picker weighted-random. */
  temperature: z.number().min(0).max(1_000).default(0),
});

/** Prompts remembered for each endpoint; one that runs more requests at once is counted by their mean. */
const MOST_KEPT = 4096;

/**
 * The cost function of NVIDIA Dynamo's KV router (lib/kv-router, file scheduling/selector.rs):
 * cost = prefillLoadScale x max(prefill tokens outstanding + prompt - credit x cached part, 0) + prompt tokens being decoded,
 * in blocks there and in tokens here, which orders the candidates alike.
 *
 * Dynamo hears from the engines which blocks they hold, and books itself what is active. Here the matches come from the router's
 * index, and the second term is the prompts of as many requests as are in flight, taken to end in the order they came: no plugin
 * is told when a request ends. A block that two running requests share counts twice.
 */
export default defineScorer({
  type: "dynamo-cost",
  summary: "Prefers the lowest sum of uncached prompt tokens outstanding and prompt tokens of the requests in flight.",
  options,
  create({ overlapScoreCredit, prefillLoadScale, temperature }, host) {
    host.usePrefixIndex({});
    const sent = new SentPrompts();
    return {
      score({ prefix, promptTokens }, candidates, load) {
        const costs = candidates.map((endpoint) => {
          const { slot } = endpoint;
          const prefill = load.prefillTokens(slot) + promptTokens - overlapScoreCredit * prefix.matchedTokens(slot);
          return prefillLoadScale * Math.max(0, prefill) + sent.tokensOf(endpoint, load.inFlight(slot));
        });
        return temperature === 0 ? cheapestFirst(costs) : softmaxWeights(costs, temperature);
      },
      chosen: ({ promptTokens }, endpoint) => sent.note(endpoint, promptTokens),
    };
  },
});

/** Costs are first brought to the range [0, 1]. */
function softmaxWeights(costs: readonly number[], temperature: number): readonly number[] {
  const lowest = Math.min(...costs);
  const range = Math.max(...costs) - lowest;
  return costs.map((cost) => (range === 0 ? 1 : Math.exp(-(cost - lowest) / range / temperature)));
}

/** How long the prompts were that each endpoint was sent. */
class SentPrompts {
  /** By slot, which may get another endpoint; running sums, the last is the sum of all. */
  readonly #sent: { readonly name: string; readonly sums: number[] }[] = [];

  note({ slot, name }: Endpoint, tokens: number): void {
    if (this.#sent[slot]?.name !== name) this.#sent[slot] = { name, sums: [0] };
    const { sums } = this.#sent[slot]!;
    sums.push(sums.at(-1)! + tokens);
    if (sums.length > 2 * MOST_KEPT) sums.splice(0, MOST_KEPT);
  }

  /** Tokens of the last `count` prompts. */
  tokensOf({ slot, name }: Endpoint, count: number): number {
    const sums = this.#sent[slot]?.name === name ? this.#sent[slot].sums : [0];
    const known = Math.min(count, sums.length - 1);
    return known === 0 ? 0 : ((sums.at(-1)! - sums.at(-1 - known)!) / known) * count;
  }
}
