import type { Endpoint } from "../../core/contract/endpoint.ts";
import { RouterError } from "../../core/contract/errors.ts";
import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";
import { contains, type LengthRange, rangeOf } from "./length-range.ts";

const options = z.strictObject({
  /** The label whose value is a range of prompt lengths in tokens, "min-max". */
  label: z.string().min(1).default("llm-d.ai/context-length-range"),
  /** Whether endpoints whose range does not include the prompt's length are dropped, not only scored lower. */
  enableFiltering: z.boolean().default(false),
});

/**
 * score = 0.3 + 0.7 x (0.7 / (1 + width / 10000) + 0.3 x headroom / width) in range, where width = max - min and
 * headroom = max - length; 1 if width = 0; 0.3 / (1 + distance / 1000) out of range; 0.5 without the label; 0 with a label that
 * can't be read. All lengths are in tokens; the prompt's length is the router's estimate.
 */
export default defineScorer({
  type: "context-length-aware",
  summary: "Prefers endpoints labelled for prompts of this length, the tightest range first.",
  options,
  needs: ({ label }) => [
    {
      labelled: (labels) => typeof rangeOf(labels, label) === "object",
      lack: `no replica has a range of lengths in the label ${label}, such as 0-2048`,
    },
  ],
  create({ label, enableFiltering }) {
    /** Cached by endpoint object, whose labels never change. */
    const ranges = new WeakMap<Endpoint, LengthRange>();
    const lengthsOf = (endpoint: Endpoint): LengthRange => {
      const known = ranges.get(endpoint);
      if (known !== undefined) return known;
      const range = rangeOf(endpoint.labels, label);
      ranges.set(endpoint, range);
      return range;
    };
    return {
      score: ({ promptTokens }, candidates) => candidates.map((endpoint) => fit(promptTokens, lengthsOf(endpoint))),
      ...(enableFiltering && {
        filter: ({ promptTokens }, candidates) => candidates.filter((endpoint) => contains(lengthsOf(endpoint), promptTokens)),
        refuse: () => new RouterError("no_ready_endpoint", NONE_FITS, { retryAfterS: 1 }),
      }),
    };
  },
});

const NONE_FITS =
  "No ready replica has a label for a prompt of this length; change its length, or a replica's range in the config.";

function fit(tokens: number, range: LengthRange): number {
  if (range === "any") return 0.5;
  if (range === "unreadable") return 0;
  const { min, max } = range;
  if (tokens < min) return outside(min - tokens);
  if (tokens > max) return outside(tokens - max);
  const width = max - min;
  if (width === 0) return 1;
  return 0.3 + 0.7 * (0.7 / (1 + width / 10_000) + (0.3 * (max - tokens)) / width);
}

const outside = (distance: number) => 0.3 / (1 + distance / 1000);
