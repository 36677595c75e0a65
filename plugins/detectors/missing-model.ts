import { z } from "../../core/contract/options.ts";
import { defineDetector } from "../../core/contract/plugin.ts";

const options = z.strictObject({
  /** Responses of 404 in a row for models that it lists. */
  threshold: z.int().min(1).max(1_000).default(3),
});

export default defineDetector({
  type: "missing-model",
  summary: "Ejects an endpoint that responds with 404 for a model that it lists.",
  runsByDefault: true,
  options,
  create: ({ threshold }) => ({
    detect: ({ missingModelCount, missingModel }) =>
      missingModelCount >= threshold ? `${missingModelCount} times 404 for "${missingModel}", which it lists` : undefined,
  }),
});
