import { RouterError } from "../../../core/contract/errors.ts";
import { z } from "../../../core/contract/options.ts";
import { defineFeature } from "../../../core/contract/plugin.ts";
import type { RequestReceiver } from "../../../core/contract/slots/decode.ts";
import type { Run } from "../../../core/run.ts";
import { DecodedBody } from "./decoded-body.ts";
import { CODINGS, inflaterFor } from "./inflater.ts";

const options = z.strictObject({
  /** How many times as long as it came a body may become; the first megabyte is free. A longer one is made to exhaust the router. */
  mostRatio: z.int().min(1).default(200),
});

/** Takes bodies that clients have compressed. */
export default defineFeature({
  type: "compressed-bodies",
  summary: "Takes request bodies that clients have compressed (gzip, br, zstd), and sends them on plain.",
  options,
  runsByDefault: true,
  create: ({ mostRatio }) => ({
    decode(run: Run, receiver: RequestReceiver) {
      const coding = run.head.get("content-encoding") ?? "";
      // A gateway has sent its own headers, and among them the coding.
      const inflater = run.response.gateway === undefined ? inflaterFor(coding.trim().toLowerCase()) : undefined;
      if (inflater === undefined) throw refusal(run.response.gateway === undefined ? CODINGS.join(", ") : "identity");
      return new DecodedBody(inflater, run.response, receiver, mostRatio);
    },
  }),
});

function refusal(accepts: string): RouterError {
  const message = `Send the body with one of these as its Content-Encoding, or with none: ${accepts}.`;
  return new RouterError("unsupported_media_type", message, { accepts });
}
