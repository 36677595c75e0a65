import { isIP } from "node:net";
import { z } from "../core/contract/options.ts";
import { MAX_SLOTS } from "../core/state/load.ts";
import { corsSchema } from "./cors-schema.ts";
import { guardSchema } from "./guard-schema.ts";
import { LONGEST_TIMER_MS, limits } from "./limits-schema.ts";
import { lineOfText } from "./line-of-text.ts";
import { inMilliseconds, inSeconds } from "./measures.ts";
import { mirror, percent } from "./mirror-schema.ts";
import { secretReference } from "./secret.ts";
import { whole } from "./whole.ts";

// The schema of a Router document. The editor schema is generated from it, so every key has a description.

const LONGEST_TIMER_SECONDS = Math.floor(LONGEST_TIMER_MS / 1000);

const seconds = (min: number) => {
  const wanted =
    min > 0
      ? `a number of seconds above 0, at most ${LONGEST_TIMER_SECONDS}`
      : `a number of seconds from 0 to ${LONGEST_TIMER_SECONDS}`;
  return inSeconds(z.number(wanted).min(min, wanted).max(LONGEST_TIMER_SECONDS, wanted));
};

/** The name of an instance, an endpoint or a profile. */
export const instanceName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/,
    'a name of letters, digits, ".", "_" and "-", at most 128, with a letter or digit first',
  );

const address = z.strictObject({
  host: z
    .string()
    .refine(
      (host) => isIP(host) !== 0 || /^[A-Za-z0-9_.-]+$/.test(host),
      "a host name or IP address, without scheme, port or brackets",
    )
    .describe("Host name or IP address to listen on; 0.0.0.0 for every network. Default 127.0.0.1.")
    .optional(),
  port: whole(0, 65535).describe("TCP port; 0 takes any free one.").optional(),
  reusePort: z
    .boolean()
    .describe(
      "Whether other processes may listen on the same port, so that a new one can start before the old one stops. Needs Deno, Bun, or Node 22.12 or newer. Default false.",
    )
    .optional(),
});

const listenAddress = z.strictObject({
  ...address.shape,
  cors: corsSchema.describe("Lets web pages of other origins call the router. Default off.").optional(),
});

const adminAddress = z.strictObject({
  ...address.shape,
  hosts: z
    .array(z.string().regex(/^[A-Za-z0-9_.-]+$/, "a host name, without scheme and port"))
    .describe("Accepted host names with a dot, beside the admin port's host. IP addresses and localhost are always accepted.")
    .optional(),
  token: secretReference
    .describe(
      "What changes through the admin API must bring: env:NAME or file:PATH. Needed where the port is open to the network.",
    )
    .optional(),
  readOnly: z.boolean().describe("Whether the admin API refuses every change. Default false.").optional(),
});

const probe = z.strictObject({
  path: z
    .string()
    .regex(/^\/[\x21-\x7e]*$/, 'a path that starts with "/"')
    .describe("Path that is requested with GET; status 200 is success.")
    .optional(),
  initialDelaySeconds: seconds(0).describe("Wait before the first scheduled try.").optional(),
  periodSeconds: seconds(0.001).describe("Time between tries.").optional(),
  timeoutSeconds: seconds(0.001).describe("How long one try may take.").optional(),
  failureThreshold: whole(1, 1_000_000).describe("Failures in a row after which the probe counts as failed.").optional(),
});

const auth = z.strictObject({
  bearer: secretReference.describe("Where the key is: env:NAME or file:PATH (relative to this file). Read at the start."),
});

const endpoint = z.strictObject({
  url: lineOfText.describe("Address of the replica, such as http://gpu1:8000. A path in it is put before every API path."),
  name: instanceName.describe("Its name in messages, metrics and headers. Default: made from host and port.").optional(),
  labels: z.record(z.string(), z.string()).describe("Free labels, for filters that select by label.").optional(),
  auth: auth.describe("Its own key, instead of the pool's.").optional(),
});

const pool = z.strictObject({
  name: lineOfText.describe('What poolRef.name of an InferenceModelRewrite points at. Default "default".').optional(),
  endpoints: z.array(endpoint).max(MAX_SLOTS).describe("The replicas.").optional(),
  auth: auth
    .describe(
      "The key that replicas want (vllm serve --api-key): sent with probes, and with requests instead of the client's own.",
    )
    .optional(),
  forwardCredentials: z
    .boolean()
    .describe(
      "Whether replicas without `auth` get the client's own Authorization, X-Api-Key, Api-Key and Cookie headers. Default true.",
    )
    .optional(),
  probes: z
    .strictObject({
      startup: probe.describe("Until it succeeds once, the replica gets no traffic.").optional(),
      liveness: probe.describe("Whether the server process responds.").optional(),
      readiness: probe.describe("Whether the replica can serve its models now.").optional(),
    })
    .describe("How replicas are checked. What is left out gets the recommended value.")
    .optional(),
  adapters: z
    .strictObject({
      unlisted: z
        .enum(["targets", "any", "none"])
        .describe(
          "Names that replicas may get though they do not list them, so that they load them: the targets of rewrites (targets, the default), also names that clients ask for (any), or none.",
        )
        .optional(),
    })
    .describe("Adapters that replicas load when they are first asked for.")
    .optional(),
});

const plugin = z.strictObject({
  type: z.string().describe("A built-in plugin type. Either this or `from`.").optional(),
  from: lineOfText
    .describe("A module with your own plugin: ./file.ts (relative to this file) or a package. Either this or `type`.")
    .optional(),
  name: instanceName.describe("Name of this instance in profiles. Default: its type.").optional(),
  parameters: z.unknown().describe("Options of the plugin.").optional(),
});

const WANTED_WEIGHT = "a number from 0 to 1000000";
export const profileWeight = z.number(WANTED_WEIGHT).min(0, WANTED_WEIGHT).max(1_000_000, WANTED_WEIGHT);

const profileRef = z.strictObject({
  pluginRef: z.string().describe("Name of an entry in `plugins`, or a built-in type to use with its defaults."),
  weight: profileWeight.describe("Weight of a scorer in the mean over all scorers. Default 1.").optional(),
});

const profile = z.strictObject({
  name: instanceName.describe('Default "default".').optional(),
  plugins: z
    .array(profileRef)
    .describe("Filters in the order they run, behind ready and serves-model; scorers; one picker.")
    .optional(),
  unguarded: z
    .boolean()
    .describe(
      "Leaves out the filters ready and serves-model unless the profile lists them: requests then go to replicas that load, and with models that no replica has. Default false.",
    )
    .optional(),
});

const shadow = z.strictObject({
  name: instanceName.describe('Its name in metrics and explanations. Default "shadow".').optional(),
  plugins: profile.shape.plugins.unwrap().describe("As in a profile. It gets instances of its own, with the same parameters."),
  unguarded: profile.shape.unguarded,
  percent: percent("Of the requests, how many it decides too. Default 100.").optional(),
});

const share = (wanted: string) => z.number(wanted).min(0, wanted).max(1, wanted);

const ejection = z.strictObject({
  baseSeconds: seconds(0.001)
    .describe("How long the first ejection of an endpoint lasts; each further one twice as long. Default 10.")
    .exactOptional(),
  maxSeconds: seconds(0.001).describe("How long one may last at most. Default 300.").exactOptional(),
  maxShare: share("a share from 0 to 1")
    .describe("Of the endpoints that are up, the largest share that may be out at once. Default 0.5.")
    .exactOptional(),
  warmUpTokens: whole(1, 1_000_000_000)
    .describe("Prompt tokens that a returning or new endpoint serves until it has its whole share. Default 20000.")
    .exactOptional(),
  cutWaiting: z
    .boolean()
    .describe("Whether requests that wait without a byte on an endpoint that makes no progress are cut. Default true.")
    .exactOptional(),
});

const retries = z.strictObject({
  stale: z
    .boolean()
    .describe("A fresh try on the same replica when a kept-alive connection ends before a byte of the response. Default true.")
    .exactOptional(),
  wedged: z
    .boolean()
    .describe("A try on another replica for requests that were cut because theirs makes no progress. Default false.")
    .exactOptional(),
  budgetShare: share("a share from 0 to 1")
    .describe("Tries on other replicas, as a share of the requests of the last ten seconds. Default 0.2.")
    .exactOptional(),
  budgetLeast: whole(0, 1_000_000)
    .describe("So many of them are allowed however few the requests are. Default 3.")
    .exactOptional(),
  backoffMs: inMilliseconds(whole(0, 60_000))
    .describe("The pause before the first retry is a random part of this; 0 for none. Default 25.")
    .exactOptional(),
});

const keepAlive = z.strictObject({
  periodSeconds: seconds(0.001)
    .describe("Silence of the replica between two events, after which the client gets one that means nothing. Default 15.")
    .exactOptional(),
  paths: z
    .array(
      z
        .string()
        .regex(/^\/[\x21-\x7e]*$/, 'a path that starts with "/"')
        .describe("A path that a parser serves, such as /v1/chat/completions."),
    )
    .min(1, "at least one path")
    .describe("Paths whose event streams get them: a comment, or a ping on paths of the Anthropic API."),
});

const routerSpec = z.strictObject({
  listen: listenAddress.describe("Where clients connect. Default 127.0.0.1:8080.").optional(),
  admin: z
    .union([z.literal(false), adminAddress])
    .describe("Where the status page and the metrics are. Default 127.0.0.1:9090; false turns it off.")
    .optional(),
  pool: pool.describe("The replicas that requests are routed to.").optional(),
  plugins: z.array(plugin).describe("Plugin instances with their own parameters. What is left out gets a default.").optional(),
  profiles: z.array(profile).describe("How an endpoint is chosen: one profile.").optional(),
  shadow: shadow
    .describe("A second profile that decides on the same facts; only where it differs is shown. Default none.")
    .optional(),
  mirrors: z
    .array(mirror)
    .max(64, "at most 64 mirrors")
    .describe("Shares of rewrite rules' requests that are also sent to a target whose responses are thrown away. Default none.")
    .optional(),
  ejection: z
    .union([z.literal(false), ejection])
    .describe("How endpoints leave the pool for what their responses are, and return. false turns it off.")
    .optional(),
  retries: retries.describe("What may be tried again, and how often.").optional(),
  keepAlive: keepAlive.describe("What clients get while a replica is silent inside an event stream. Default nothing.").optional(),
  forwardedFor: z
    .enum(["append", "replace", "drop"])
    .describe(
      "X-Forwarded-For for replicas: the client's address only (replace, the default), behind those that came with the request (append, only where all clients are proxies that you trust), or none (drop).",
    )
    .optional(),
  guards: z
    .array(guardSchema)
    .describe("Targets of rewrites that are stopped when they are worse than another target of their rule.")
    .optional(),
  limits: limits.describe("Bounds on time and size.").optional(),
  responseHeaders: z
    .boolean()
    .describe("Whether responses name the endpoint and the model that served. Default true.")
    .optional(),
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
export type EjectionSpec = RouterSpec["ejection"];
export type KeepAliveSpec = RouterSpec["keepAlive"];
export type RouterSpec = z.infer<typeof routerSpec>;
export type AddressSpec = z.infer<typeof address>;
export type ListenSpec = z.infer<typeof listenAddress>;
export type AdminAddressSpec = z.infer<typeof adminAddress>;
export type PoolSpec = z.infer<typeof pool>;
export type PluginSpec = z.infer<typeof plugin>;
export type ShadowSpec = NonNullable<RouterSpec["shadow"]>;
export type ProbeSeconds = z.infer<typeof probe>;
