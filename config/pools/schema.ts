import { lineOfText, z } from "../../core/contract/options.ts";
import type { FallbackTarget, PoolPlan } from "../../core/router-config.ts";
import { RETRIES } from "../../core/settings/tables.ts";
import { perRegistry, type SectionFeature } from "../feature.ts";
import { pluginEntry } from "../plugins/read.ts";
import { ROUTER_VERSIONS } from "../read/kinds.ts";
import { poolSchema } from "../router/pool.ts";
import { profileSchema } from "../schema/profile.ts";
import { section } from "../schema/section.ts";
import { headerName, instanceName } from "../schema/values.ts";

// The schema of a Pool document: who goes there, and those sections of a Router document that each pool has for itself.

const MOST_NAMES = 1_000;
const names = z.array(lineOfText).min(1).max(MOST_NAMES);

/** The key of those pools that take what a pool can't serve, in a Router document and in a Pool. */
export const FALLBACK_KEY = "fallback";

const fallbackTarget = z.union([
  lineOfText.transform((pool) => ({ pool, model: undefined })),
  z
    .strictObject({
      pool: lineOfText.describe("The other pool's name."),
      modelRewrite: lineOfText.describe("The model that its replicas get. Default: the same as here.").optional(),
    })
    .transform(({ pool, modelRewrite }) => ({ pool, model: modelRewrite })),
]);

export const fallbackSchema = z
  .array(fallbackTarget)
  .max(16)
  .describe(
    "Pools that get, in this order, what this one can't serve because it is full or has no replica: names, or { pool: NAME, modelRewrite: MODEL }. Default none.",
  )
  .optional();

/** As it may be written. */
export function shownFallback({ pool, model }: FallbackTarget) {
  return model === undefined ? pool : { pool, modelRewrite: model };
}

/** What runs of it all: the value of `features` under that key. */
export interface PoolsConfig {
  /** Where requests of the router's own pool go that it can't serve. */
  readonly own: readonly FallbackTarget[];
  /** Whether the config says where the router's own pool has replicas from. */
  readonly hasOwnReplicas: boolean;
  readonly pools: readonly PoolPlan[];
}

/** What a Pool document has beside sections of the Router document. */
const selectors = {
  models: names
    .describe(
      "Models whose requests go there: names as clients write them, or targets of rewrites. With a star at its end it is for each that begins so; a star alone is for all.",
    )
    .optional(),
  headers: z
    .record(headerName, names)
    .describe(
      "Requests go there that have one of these values in each of these headers. A star at the end of a value stands for any rest.",
    )
    .optional(),
  keys: names
    .describe("Requests of these keys go there: names of spec.auth.keys. A star at the end of a name stands for any rest.")
    .optional(),
  [FALLBACK_KEY]: fallbackSchema,
};

/** The keys of a Pool document that no Router document has. */
export const SELECTORS: readonly string[] = Object.keys(selectors);

/** Sections of the Router document that are for all requests of a pool, and that it has from there where it says nothing. */
export const INHERITED: readonly string[] = ["plugins", "profiles", "retries"];

const ofPools = (features: readonly SectionFeature[]): Readonly<Record<never, z.ZodType>> =>
  Object.fromEntries(
    features.flatMap(({ section: { key, schema, inPools } }) => (inPools === undefined ? [] : [[key, schema] as const])),
  );

const documentWith = (features: readonly SectionFeature[]) =>
  z.strictObject({
    $schema: z.string().describe("For editors; ignored.").optional(),
    apiVersion: z.enum(ROUTER_VERSIONS),
    kind: z.literal("Pool"),
    metadata: z.looseObject({ name: instanceName.describe("The pool's name; no two pools have the same one.") }),
    spec: z.strictObject({
      ...selectors,
      pool: poolSchema.omit({ name: true }).describe("Its replicas, as spec.pool of the Router document has them.").optional(),
      plugins: z.array(pluginEntry).describe("Its plugins, in place of those of the Router document.").optional(),
      profiles: z
        .array(profileSchema)
        .describe("How an endpoint is chosen, in place of the Router document's profile.")
        .optional(),
      ...ofPools(features),
      retries: section(RETRIES).describe("What may be tried again, and how often.").optional(),
    }),
  });

/** The schema of a document of kind Pool, where these plugins are known. */
export const poolDocument = perRegistry(documentWith);

export type PoolDocument = z.infer<ReturnType<typeof documentWith>>;
