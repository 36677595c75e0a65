import { z } from "../../core/contract/options.ts";
import { defineDetector } from "../../core/contract/plugin.ts";

const options = z.strictObject({
  /** Longest silence with requests in flight, whatever explains it. */
  maxSilenceMs: z.int().min(100).max(3_600_000).default(300_000),
});

/**
 * Requests are in flight, and no byte of any response has come for longer than the work ahead of them and the endpoint's own
 * history explain.
 */
export default defineDetector({
  type: "no-progress",
  summary: "Ejects an endpoint that has requests and sends nothing.",
  runsByDefault: true,
  options,
  create: ({ maxSilenceMs }) => ({
    cutsWaiting: true,
    detect: ({ quietMs, explainedQuietMs }) =>
      quietMs > Math.min(maxSilenceMs, explainedQuietMs)
        ? `requests are in flight and no byte came for ${Math.round(quietMs / 1000)} s`
        : undefined,
  }),
});
