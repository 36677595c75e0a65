import { z } from "../../core/contract/options.ts";
import { RESOURCE_VERSIONS } from "../read/kinds.ts";
import { lineOfText, poolReference, whole } from "../schema/values.ts";

/** A document of kind InferenceObjective: the reference's resource. */
export const objectiveDocument = z.strictObject({
  apiVersion: z.enum(RESOURCE_VERSIONS),
  kind: z.literal("InferenceObjective"),
  metadata: z.looseObject({
    name: lineOfText.describe("What requests name in the header x-llm-d-inference-objective."),
    namespace: lineOfText.optional(),
  }),
  spec: z.strictObject({
    priority: whole(-(2 ** 31), 2 ** 31 - 1)
      .describe("Higher goes first; below 0 is the first to be sent away. Default 0.")
      .optional(),
    poolRef: poolReference,
  }),
  status: z.unknown().describe("Ignored.").optional(),
});

export type ObjectiveDocument = z.infer<typeof objectiveDocument>;
