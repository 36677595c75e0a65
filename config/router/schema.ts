import { z } from "../../core/contract/options.ts";
import { FEATURES } from "../../core/features/list.ts";
import { LIMITS } from "../../core/settings/limits.ts";
import { FORWARDED_FOR, RESPONSE_HEADERS, RETRIES } from "../../core/settings/tables.ts";
import { DEFAULT_LIMITS, DEFAULT_RETRIES } from "../../core/settings.ts";
import { pluginEntry } from "../plugins/schema.ts";
import { profileSchema } from "../schema/profile.ts";
import { orElse, section, setting } from "../schema/section.ts";
import { adminSchema, DEFAULT_ADMIN, DEFAULT_LISTEN, listenSchema } from "./addresses.ts";
import { poolSchema } from "./pool.ts";

// The schema of a Router document: what comes out of it has every default. The editor schema is generated from it, so every key has
// a description.

/** The sections of the features, each under its key. Only they know what comes out of them. */
const featureShape: Readonly<Record<never, z.ZodType>> = Object.fromEntries(
  FEATURES.map(({ section: { key, schema } }) => [key, schema]),
);

const routerSpec = z.strictObject({
  listen: orElse(listenSchema.describe("Where clients connect. Default 127.0.0.1:8080."), {
    address: DEFAULT_LISTEN,
    cors: undefined,
  }),
  admin: orElse(
    z
      .union([z.literal(false), adminSchema])
      .describe("Where the status page and the metrics are. Default 127.0.0.1:9090; false turns it off."),
    { ...DEFAULT_ADMIN, token: undefined },
  ),
  pool: orElse(poolSchema.describe("The replicas that requests are routed to."), poolSchema.parse({})),
  plugins: z
    .array(pluginEntry)
    .describe("Plugin instances with their own parameters. What is left out gets a default.")
    .optional(),
  profiles: z.array(profileSchema).describe("How an endpoint is chosen: one profile.").optional(),
  ...featureShape,
  retries: orElse(section(RETRIES, DEFAULT_RETRIES).describe("What may be tried again, and how often."), DEFAULT_RETRIES),
  forwardedFor: setting(FORWARDED_FOR),
  limits: orElse(section(LIMITS, DEFAULT_LIMITS).describe("Bounds on time and size."), DEFAULT_LIMITS),
  responseHeaders: setting(RESPONSE_HEADERS),
});

/** A document of kind Router. */
export const routerDocument = z.strictObject({
  $schema: z.string().describe("For editors; ignored.").optional(),
  apiVersion: z.literal("signalbox/v1"),
  kind: z.literal("Router"),
  metadata: z.looseObject({}).describe("Ignored.").optional(),
  spec: routerSpec,
});

export type RouterDocument = z.infer<typeof routerDocument>;
export type RouterSpec = z.infer<typeof routerSpec>;
