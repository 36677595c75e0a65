import { RouterError } from "../../../core/contract/errors.ts";
import { z } from "../../../core/contract/options.ts";
import { defineFeature } from "../../../core/contract/plugin.ts";
import type { HeaderView } from "../../../core/contract/request.ts";
import type { RequestReceiver } from "../../../core/contract/slots/decode.ts";
import type { Run } from "../../../core/run.ts";
import { CodedReport } from "./coded-report.ts";
import { decodeWhole } from "./decode-whole.ts";
import { DecodedBody } from "./decoded-body.ts";
import { InflateAllowance } from "./inflate-allowance.ts";
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
      "What replicas get: the plain body, or the body as it came with its Content-Encoding, as behind a gateway. One that the router changes (a model's name, a salt, the history of a conversation) is plain all the same.",
    ),
});

/** Takes bodies that clients have compressed, and reads what replicas report in compressed responses. */
export default defineFeature({
  type: "compressed-bodies",
  summary: "Takes compressed request bodies, sends them on plain or as they came; counts tokens of compressed responses.",
  options,
  runsByDefault: true,
  create: ({ mostRatio, forward }, host) => {
    const parts = { allowance: host.keep(1, () => new InflateAllowance()), clock: host.clock };
    return {
      decode(run: Run, receiver: RequestReceiver) {
        const inflater = inflaterOf(run.head);
        // A gateway has the body as it came, and is told only what becomes of it.
        return forward === "plain" && run.response.gateway === undefined
          ? new DecodedBody(inflater, run.response, receiver, mostRatio)
          : keeping(inflater, run, receiver, mostRatio);
      },
      decodeWhole: async (head, body, mostBytes) => decodeWhole(inflaterOf(head), body, mostRatio, mostBytes),
      inflate: (run, head, form) => new CodedReport(head.get("content-encoding") ?? "", run.dialect, form, parts),
    };
  },
});

/** Throws RouterError (415) for a coding that this runtime does not know. */
function inflaterOf(head: HeaderView): Inflater {
  const inflater = inflaterFor((head.get("content-encoding") ?? "").trim().toLowerCase());
  if (inflater !== undefined) return inflater;
  const accepts = CODINGS.join(", ");
  const message = `Send the body with one of these as its Content-Encoding, or with none: ${accepts}.`;
  throw new RouterError("unsupported_media_type", message, { accepts });
}

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
