import { defineScorer, type Endpoint, z } from "signalbox/plugin";
import { cheapestFirst } from "./cheapest-first.ts";

/** Defaults of Dynamo's KV router (`--router-kv-overlap-score-credit` and so on). */
const options = z.strictObject({
  /** The part of each cached token that is subtracted from the prompt. */
  overlapScoreCredit: z.number().min(0).max(1).default(1),
  prefillLoadScale: z.number().min(0).max(1_000).default(1),
  /** 0: the lowest cost is best. Above 0: scores are a softmax of the costs; use the picker weighted-random. */
  temperature: z.number().min(0).max(1_000).default(0),
});

/** Prompts remembered for each endpoint. With more requests in flight, the mean of these counts for each. */
const MOST_KEPT = 4096;

/**
 * The cost function of NVIDIA Dynamo's KV router (lib/kv-router, file scheduling/selector.rs):
 * cost = prefillLoadScale x max(prefill tokens outstanding + prompt - credit x cached part, 0) + prompt tokens being decoded,
 * in blocks there and in tokens here, which gives the same order of candidates.
 *
 * In Dynamo the engines report which blocks they hold, and the router counts the active blocks. Here the matches come from the
 * router's index. The second term is the sum of the latest prompts, as many as there are requests in flight, as if requests ended
 * in the order they came, because no scorer learns when a request ends. A block that two running requests share counts twice.
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

/** exp(-(cost - lowest) / (highest - lowest) / temperature); 1 for all if all costs are equal. */
function softmaxWeights(costs: readonly number[], temperature: number): readonly number[] {
  const lowest = Math.min(...costs);
  const range = Math.max(...costs) - lowest;
  return costs.map((cost) => (range === 0 ? 1 : Math.exp(-(cost - lowest) / range / temperature)));
}

/** The lengths of the prompts that were sent to each endpoint. */
class SentPrompts {
  /** By slot: the endpoint's name, because another endpoint may get the slot, and running sums of the lengths. */
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
