import { z } from "../../core/contract/options.ts";
import { defineDetector } from "../../core/contract/plugin.ts";

const options = z.strictObject({
  /** Failures without a success between them. */
  threshold: z.int().min(1).max(1_000).default(3),
});

/** Resets, timeouts, failed connects and responses of 5xx in a row. */
export default defineDetector({
  type: "consecutive-failures",
  summary: "Ejects an endpoint after failures in a row.",
  runsByDefault: true,
  options,
  create: ({ threshold }) => ({
    detect: ({ consecutiveFailures, lastFailure }) =>
      consecutiveFailures >= threshold ? `${consecutiveFailures} failures in a row, the last: ${lastFailure}` : undefined,
  }),
});
