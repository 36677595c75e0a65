import { z } from "../../core/contract/options.ts";
import { defineDetector } from "../../core/contract/plugin.ts";

const options = z.strictObject({
  /** Responses of status 2xx in a row that lack what their API's responses have. */
  threshold: z.int().min(1).max(1_000).default(3),
});

/** What responses of an API have is in its parser. A replica that answers so is quick and looks idle, so it draws the traffic. */
export default defineDetector({
  type: "malformed-responses",
  summary: "Ejects an endpoint whose responses of status 200 are none of their API.",
  runsByDefault: true,
  options,
  create: ({ threshold }) => ({
    detect: ({ malformedCount, malformedBy }) =>
      malformedCount >= threshold
        ? `${malformedCount} responses of status 200 in a row are none of their API, the last: ${malformedBy}`
        : undefined,
  }),
});
