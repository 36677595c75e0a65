import { lineOfText, z } from "../../core/contract/options.ts";
import { targetLabel } from "../../core/report/target-label.ts";
import { REWRITE_VERSIONS } from "../read/kinds.ts";
import { poolRef } from "../schema/pool-ref.ts";
import { headerName, whole } from "../schema/values.ts";

// The schema of an InferenceModelRewrite: the reference's resource, plus three keys of our own: two at the end of a rule, one of a target.

/** The annotation in which a resource brings the guards of its own targets. */
export const GUARD_ANNOTATION = "signalbox/guard";

const metadata = z.looseObject({
  name: lineOfText.describe("Name of the resource; unique within its namespace."),
  namespace: lineOfText.optional(),
  creationTimestamp: z.iso
    .datetime({ offset: true, error: "a time such as 2026-01-31T12:00:00Z" })
    .nullable()
    .describe("If two rules match equally well, the one of the older resource applies.")
    .optional(),
  annotations: z
    .looseObject({
      [GUARD_ANNOTATION]: z
        .string()
        .describe(
          'Guards of its targets, as spec.guards has them, such as "target=food-review-v2 errorRate=2% ttft=50%"; several with ";" between them. Signalbox only.',
        )
        .optional(),
    })
    .optional(),
});

const match = z.strictObject({
  model: z.strictObject({
    type: z.literal("Exact").describe("The only kind of match, and the default.").optional(),
    value: lineOfText.describe("The model name that the client asks for."),
  }),
});

const target = z.strictObject({
  modelRewrite: lineOfText.describe("The model or adapter name that the replica gets."),
  weight: whole(0, 1_000_000)
    .describe("Share of the traffic relative to the other targets; 0 is listed but drained. On every target or on none.")
    .optional(),
  pool: lineOfText
    .describe(
      "The pool whose replicas get it: the name of a Pool document, or spec.pool.name of the Router document. Signalbox only.",
    )
    .optional(),
});

/** Each draw looks at all of them. */
const MOST_TARGETS = 1_000;

const rule = z.strictObject({
  matches: z
    .array(match)
    .describe("The rule matches if any of these does. Left out or empty: it matches every request.")
    .optional(),
  targets: z
    .array(target)
    .min(1)
    .max(MOST_TARGETS, `at most ${MOST_TARGETS} targets in a rule`)
    .describe("The names that replace the model name."),
  sticky: z
    .strictObject({
      header: headerName.describe("Requests with the same value of this header get the same target."),
    })
    .describe("Keeps a client on one target. Signalbox only.")
    .optional(),
  onUnavailable: z
    .enum(["refuse", "redistribute"])
    .describe(
      "If no ready replica serves the drawn target, and none loads it: respond with 503 (refuse), or draw among the others (redistribute). Default refuse. Signalbox only.",
    )
    .optional(),
});

/** A document of kind InferenceModelRewrite. */
export const rewriteDocument = z.strictObject({
  apiVersion: z.enum(REWRITE_VERSIONS),
  kind: z.literal("InferenceModelRewrite"),
  metadata,
  spec: z.strictObject({
    poolRef,
    rules: z.array(rule).describe("Rules that match a model name come before rules that match everything."),
  }),
  status: z.unknown().describe("Ignored.").optional(),
});

export type RewriteDocument = z.infer<typeof rewriteDocument>;
export type RewriteDocumentRule = z.infer<typeof rule>;

/** A target in one word, as the status, guards and weights name it. */
export function labelOf({ modelRewrite: name, pool }: Partial<z.infer<typeof target>>): string {
  return targetLabel({ name: name ?? "", pool });
}
