import { z } from "../../core/contract/options.ts";
import { FORWARDED_FOR, LIMITS, RESPONSE_HEADERS, RETRIES } from "../../core/settings/tables.ts";
import { perRegistry, type SectionFeature } from "../feature.ts";
import { pluginEntry } from "../plugins/read.ts";
import { ROUTER_VERSIONS } from "../read/kinds.ts";
import { profileSchema } from "../schema/profile.ts";
import { orElse, orEmpty, section, setting } from "../schema/section.ts";
import { adminSchema, listenSchema } from "./addresses.ts";
import { poolSchema } from "./pool.ts";

// The schema of a Router document: what comes out of it has every default. The editor schema is generated from it, so every key has
// a description.

/** The sections of the features, each under its key. Only they know what comes out of them. */
const featureShape = (features: readonly SectionFeature[]): Readonly<Record<never, z.ZodType>> =>
  Object.fromEntries(features.map(({ section: { key, schema } }) => [key, schema]));

const routerSpec = (features: readonly SectionFeature[]) =>
  z.strictObject({
    listen: orEmpty(listenSchema, "Where clients connect. Default 127.0.0.1:8080."),
    admin: orElse(
      z
        .union([z.literal(false), adminSchema])
        .describe("Where the status page and the metrics are. Default 127.0.0.1:9090; false turns it off."),
      adminSchema.parse({}),
    ),
    pool: orEmpty(poolSchema, "The replicas that requests are routed to."),
    plugins: z
      .array(pluginEntry)
      .describe("Plugin instances with their own parameters. What is left out gets a default.")
      .optional(),
    profiles: z.array(profileSchema).describe("How an endpoint is chosen: one profile.").optional(),
    ...featureShape(features),
    retries: orEmpty(section(RETRIES), "What may be tried again, and how often."),
    forwardedFor: setting(FORWARDED_FOR),
    limits: orEmpty(section(LIMITS), "Bounds on time and size."),
    responseHeaders: setting(RESPONSE_HEADERS),
  });

/** A document of kind Router, with the sections of these features. */
const documentWith = (features: readonly SectionFeature[]) =>
  z.strictObject({
    $schema: z.string().describe("For editors; ignored.").optional(),
    apiVersion: z.enum(ROUTER_VERSIONS),
    kind: z.literal("Router"),
    metadata: z.looseObject({}).describe("Ignored.").optional(),
    spec: routerSpec(features),
  });

/** The schema of a document of kind Router, where these plugins are known. */
export const routerDocument = perRegistry(documentWith);

export type RouterDocument = z.infer<ReturnType<typeof documentWith>>;
export type RouterSpec = RouterDocument["spec"];
