import { lineOfText, z } from "../../core/contract/options.ts";
import { REWRITE_VERSIONS } from "../read/kinds.ts";
import { poolRef } from "../schema/pool-ref.ts";
import { whole } from "../schema/values.ts";

/** A document of kind InferenceObjective. */
export const objectiveDocument = z.strictObject({
  apiVersion: z.enum(REWRITE_VERSIONS),
  kind: z.literal("InferenceObjective"),
  metadata: z.looseObject({
    name: lineOfText.describe("Name of the resource; unique within its namespace."),
    namespace: lineOfText.optional(),
  }),
  spec: z.strictObject({
    priority: whole(-2_147_483_648, 2_147_483_647)
      .describe("How important the objective's requests are beside others of the pool; more is more important. Default 0.")
      .optional(),
    poolRef,
  }),
  status: z.unknown().describe("Ignored.").optional(),
});

export type ObjectiveDocument = z.infer<typeof objectiveDocument>;
