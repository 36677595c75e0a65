import { RouterError } from "../../../core/contract/errors.ts";
import { z } from "../../../core/contract/options.ts";
import { defineFeature } from "../../../core/contract/plugin.ts";
import type { RequestReceiver } from "../../../core/contract/slots/decode.ts";
import type { Run } from "../../../core/run.ts";
import { DecodedBody } from "./decoded-body.ts";
import { CODINGS, type Inflater, inflaterFor } from "./inflater.ts";
import { PairedBody } from "./paired-body.ts";

const options = z.strictObject({
  mostRatio: z
    .int()
    .min(1)
    .default(200)
    .describe(
      "How many times as long as it came a body may become; the first megabyte is free. A longer one is made to exhaust the router.",
    ),
  forward: z
    .enum(["plain", "asReceived"])
    .default("plain")
    .describe(
      "What replicas get: the plain body, or the body as it came with its Content-Encoding. One into which a model's name or a salt is written is plain all the same.",
    ),
});

/** Takes bodies that clients have compressed. */
export default defineFeature({
  type: "compressed-bodies",
  summary: "Takes request bodies that clients have compressed (gzip, br, zstd), and sends them on plain, or as they came.",
  options,
  runsByDefault: true,
  create: ({ mostRatio, forward }) => ({
    decode(run: Run, receiver: RequestReceiver) {
      const coding = run.head.get("content-encoding") ?? "";
      // A gateway has sent its own headers, and among them the coding.
      const inflater = run.response.gateway === undefined ? inflaterFor(coding.trim().toLowerCase()) : undefined;
      if (inflater === undefined) throw refusal(run.response.gateway === undefined ? CODINGS.join(", ") : "identity");
      return forward === "plain"
        ? new DecodedBody(inflater, run.response, receiver, mostRatio)
        : keeping(inflater, run, receiver, mostRatio);
    },
  }),
});

/** A decoder beside which the body is kept as it came. */
function keeping(inflater: Inflater, run: Run, receiver: RequestReceiver, mostRatio: number): DecodedBody {
  const { config, parts } = run;
  const { gate, services } = parts;
  const buffer = new PairedBody(config.settings.limits.bodyBytes, gate.memory, services.clock, {
    failed: (error) => decoder.refuse(error),
  });
  const decoder = new DecodedBody(inflater, run.response, receiver, mostRatio, buffer.original);
  run.buffer = buffer;
  return decoder;
}

function refusal(accepts: string): RouterError {
  const message = `Send the body with one of these as its Content-Encoding, or with none: ${accepts}.`;
  return new RouterError("unsupported_media_type", message, { accepts });
}
