import { lineOfText, z } from "../../core/contract/options.ts";

/** API groups of the pools that resources may name; the first one is what is meant where none is written. */
export const POOL_GROUPS = ["inference.networking.k8s.io", "inference.networking.x-k8s.io"] as const;

/** `spec.poolRef` of a resource: whose traffic it is about. */
export const poolRef = z.strictObject({
  group: z.enum(POOL_GROUPS).describe(`API group of the pool. Default ${POOL_GROUPS[0]}.`).optional(),
  kind: z.literal("InferencePool").optional(),
  name: lineOfText.describe("Name of the pool: spec.pool.name of the Router document."),
});
