import { z } from "../../core/contract/options.ts";
import { onOff } from "../../core/settings/row.ts";
import {
  EJECTION,
  FORWARDED_FOR,
  KEEP_ALIVE,
  LIMITS,
  RESPONSE_HEADERS,
  RETRIES,
  SHADOW_PERCENT,
} from "../../core/settings/tables.ts";
import { DEFAULT_EJECTION } from "../../core/settings.ts";
import { pluginEntry } from "../plugins/read.ts";
import { orElse, orEmpty, section, setting } from "../schema/section.ts";
import { instanceName, profileWeight, urlPath } from "../schema/values.ts";
import { adminSchema, listenSchema } from "./addresses.ts";
import { guardSchema } from "./guard-schema.ts";
import { mirrorSchema } from "./mirrors.ts";
import { poolSchema } from "./pool.ts";

// The schema of a Router document: what comes out of it has every default. The editor schema is generated from it, so every key has
// a description.

const profileRef = z.strictObject({
  pluginRef: z.string().describe("Name of an entry in `plugins`, or a built-in type to use with its defaults."),
  weight: profileWeight.describe("Weight of a scorer in the mean over all scorers. Default 1.").optional(),
});

const refs = z.array(profileRef);
const unguarded = setting(
  onOff(
    false,
    "Leaves out the filters ready and serves-model unless the profile lists them: requests then go to replicas that are still loading, and with models that no replica has.",
  ),
);

const profile = z.strictObject({
  name: instanceName.describe('Default "default".').optional(),
  plugins: orElse(refs.describe("Filters in the order they run, behind ready and serves-model; scorers; one picker."), []),
  unguarded,
});

const shadow = z.strictObject({
  name: orElse(instanceName.describe('Its name in metrics and explanations. Default "shadow".'), "shadow"),
  plugins: refs.describe("As in a profile. It gets instances of its own, with the same parameters."),
  unguarded,
  percent: setting(SHADOW_PERCENT),
});

const ejection = section(EJECTION).transform((spec) => ({ isOn: true, ...spec }));

const keepAlive = section({
  ...KEEP_ALIVE,
  paths: z
    .array(urlPath.describe("A path that a parser serves, such as /v1/chat/completions."))
    .min(1, "at least one path")
    .describe("Paths whose event streams get them: a comment, or a ping on paths of the Anthropic API."),
});

const routerSpec = z.strictObject({
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
  profiles: z.array(profile).describe("How an endpoint is chosen: one profile.").optional(),
  shadow: shadow
    .describe("A second profile that decides on the same facts; only where it differs is shown. Default none.")
    .optional(),
  mirrors: orElse(
    z
      .array(mirrorSchema)
      .max(64, "at most 64 mirrors")
      .describe(
        "Shares of rewrite rules' requests that are also sent to a target whose responses are thrown away. Default none.",
      ),
    [],
  ),
  ejection: orElse(
    z
      .union([z.literal(false).transform(() => ({ ...DEFAULT_EJECTION, isOn: false })), ejection])
      .describe("How endpoints leave the pool for what their responses are, and return. false turns it off."),
    DEFAULT_EJECTION,
  ),
  retries: orEmpty(section(RETRIES), "What may be tried again, and how often."),
  keepAlive: keepAlive.describe("What clients get while a replica is silent inside an event stream. Default nothing.").optional(),
  forwardedFor: setting(FORWARDED_FOR),
  guards: orElse(
    z.array(guardSchema).describe("Targets of rewrites that are stopped when they are worse than another target of their rule."),
    [],
  ),
  limits: orEmpty(section(LIMITS), "Bounds on time and size."),
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
export type ShadowSpec = z.infer<typeof shadow>;
