import { RouterError } from "../../core/contract/errors.ts";
import { z } from "../../core/contract/options.ts";
import { defineFilter } from "../../core/contract/plugin.ts";
import { attributeRule, keptBy } from "./attribute-rules.ts";

const options = z.strictObject({
  /** A number that a source gives, such as GPUUtilization. */
  attribute: z.string().min(1),
  /** What becomes of an endpoint that has no such number. */
  onMissing: z.enum(["Pass", "Fail"]).default("Pass"),
  /** Whether all candidates stay if none would. */
  fallbackOnEmpty: z.boolean().default(false),
  algorithm: attributeRule,
});

/**
 * The rules are the reference router's: threshold (value operator limit), range (min <= value <= max), topK (the k best values),
 * percentile (at or beyond the value at place ceil(percentile / 100 x n) of the n known values).
 */
export default defineFilter({
  type: "attribute-filter",
  summary: "Keeps endpoints by a number that a source reads, such as GPU utilization.",
  options,
  reads: ({ attribute }) => [attribute],
  create({ attribute, onMissing, fallbackOnEmpty, algorithm }, host) {
    const message = `No ready replica has a value of ${attribute} that the filter "${host.name}" allows; try again shortly, or change the filter.`;
    return {
      expresses: fallbackOnEmpty ? "wish" : "need",
      filter(_request, candidates, load) {
        const known = candidates.filter(({ slot }) => load.attributes(slot).has(attribute));
        const verdicts = keptBy(
          algorithm,
          known.map(({ slot }) => load.attributes(slot).get(attribute)!),
        );
        const dropped = new Set(known.filter((_, index) => !verdicts[index]));
        const kept = candidates.filter(
          (endpoint) => !dropped.has(endpoint) && (onMissing === "Pass" || load.attributes(endpoint.slot).has(attribute)),
        );
        return kept.length === 0 && fallbackOnEmpty ? candidates : kept;
      },
      refuse: () => new RouterError("no_ready_endpoint", message, { retryAfterS: 1 }),
    };
  },
});
