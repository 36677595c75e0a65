import { z } from "../../core/contract/options.ts";

/** What a principal may use. */
export const limits = z.strictObject({
  requestsPerMinute: z.int().min(1).optional(),
  tokensPerMinute: z.int().min(1).optional(),
  concurrency: z.int().min(1).optional(),
});
