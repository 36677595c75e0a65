import { defineScorer, type Endpoint, z } from "signalbox/plugin";
import { cheapestFirst } from "./cheapest-first.ts";
import { OwnIndex } from "./own-index.ts";

/** Defaults of the command line of SGLang's router (`--cache-threshold` and so on). */
const options = z.strictObject({
  /** The longest match decides if it is a larger share of the prompt than this. */
  cacheThreshold: z.number().min(0).max(1).default(0.3),
  /** Load is uneven when most - fewest requests in flight > balanceAbsThreshold … */
  balanceAbsThreshold: z.int().min(0).max(1_000_000).default(64),
  /** … and most > balanceRelThreshold x fewest. */
  balanceRelThreshold: z.number().min(1).max(1_000_000).default(1.5),
  /** Most characters remembered for each endpoint. */
  maxTreeSize: z.int().min(1).max(Number.MAX_SAFE_INTEGER).default(67_108_864),
});

const CHARS_PER_TOKEN = 4;

/**
 * SGLang's cache_aware, as its model gateway and that one's successor SMG have it (sgl-project/sglang, file
 * sgl-model-gateway/src/policies/cache_aware.rs; smg, file model_gateway/src/policies/cache_aware.rs). If the load is uneven: fewest
 * requests in flight. Else, if an endpoint was sent more than the threshold of the prompt before: the longest match, and of several
 * the one that was sent it last. Else: fewest requests in flight. Of several with the fewest: the one that has had the fewest in all.
 *
 * It remembers the prompts sent to each endpoint, usually more than that one's cache holds. (There it is a tree of characters that is
 * cut to its size every two minutes; here it is always cut. Versions of 2024 chose the smallest tree instead of the fewest requests.)
 */
export default defineScorer({
  type: "sglang-cache-aware",
  summary: "Longest prefix sent before while load is even, else fewest requests in flight.",
  options,
  create({ cacheThreshold, balanceAbsThreshold, balanceRelThreshold, maxTreeSize }, host) {
    host.usePrefixIndex({});
    const index = new OwnIndex({ maxTokens: maxTreeSize / CHARS_PER_TOKEN, clock: host.clock });
    /** Requests sent so far, by slot, with the endpoint's name, because another endpoint may get the slot. */
    const processed: { readonly name: string; readonly count: number }[] = [];
    const processedBy = ({ slot, name }: Endpoint) => (processed[slot]?.name === name ? processed[slot].count : 0);
    return {
      score({ prefix, promptTokens }, candidates, load) {
        const counts = candidates.map(({ slot }) => load.inFlight(slot));
        const most = Math.max(...counts);
        const fewest = Math.min(...counts);
        const mostProcessed = Math.max(...candidates.map(processedBy));
        // All that were processed count less than one in flight.
        const leastLoaded = cheapestFirst(
          candidates.map((endpoint, at) => counts[at]! + processedBy(endpoint) / (mostProcessed + 1)),
        );
        if (most - fewest > balanceAbsThreshold && most > balanceRelThreshold * fewest) return leastLoaded;
        const matches = candidates.map((endpoint) => index.match(prefix, endpoint));
        const longest = Math.max(...matches.map(({ tokens }) => tokens));
        if (!(longest > cacheThreshold * promptTokens)) return leastLoaded;
        const latest = Math.max(...matches.map(({ tokens, prompt }) => (tokens === longest ? prompt : 0)));
        return leastLoaded.map((score, at) => (matches[at]!.prompt === latest ? 1 : score / 2));
      },
      chosen({ prefix }, endpoint) {
        index.add(prefix, endpoint);
        processed[endpoint.slot] = { name: endpoint.name, count: processedBy(endpoint) + 1 };
      },
    };
  },
});
