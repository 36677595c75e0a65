import type { EndpointSpec } from "../../core/contract/endpoint.ts";
import { endpointsAt } from "../../core/contract/endpoint-url.ts";
import { labelSelector } from "../../core/contract/label-selector.ts";
import { lineOfText, z } from "../../core/contract/options.ts";
import type { Secret } from "../../core/contract/secret.ts";
import { thrownMessage } from "../../core/contract/thrown-text.ts";
import { tlsOptions } from "../../core/contract/tls-options.ts";
import { onOff } from "../../core/settings/row.ts";
import { ADAPTERS_BY_CLIENTS, PROBE, PROBE_DEFAULTS, UNLISTED } from "../../core/settings/tables.ts";
import type { CredentialSettings, ProbeSpec } from "../../core/settings.ts";
import { MAX_SLOTS } from "../../core/state/load.ts";
import type { Place } from "../read/documents.ts";
import { quoted, type Report } from "../read/problems.ts";
import { readSecret, secretReference } from "../read/secret.ts";
import { orElse, orEmpty, section, setting } from "../schema/section.ts";
import { instanceName, urlPath } from "../schema/values.ts";
import type { ReplicaTlsEntry } from "./replica-tls.ts";
import { urlHint } from "./url-hint.ts";

const path = urlPath.describe("Path that is requested with GET; status 200 is success.");
const probe = (defaults: ProbeSpec, text: string) => orEmpty(section({ path, ...PROBE }, defaults), text);

const auth = z.strictObject({
  bearer: secretReference.describe("Where the key is: env:NAME or file:PATH (relative to this file). Read at the start."),
});

/** The most ranks of one host; InferencePool has eight ports at most. */
const MOST_PORTS = 64;

const portList = z
  .array(z.int().min(1).max(65_535))
  .min(1)
  .max(MOST_PORTS)
  .refine((ports) => new Set(ports).size === ports.length, "each port once");

const endpoint = z.strictObject({
  url: lineOfText.describe("Address of the replica, such as http://gpu1:8000. A path in it is put before every API path."),
  ports: portList
    .describe(
      "Ports of data-parallel ranks on that host: each is an endpoint of its own, NAME-rank-0 and so on. The url then has no port.",
    )
    .optional(),
  name: instanceName.describe("Its name in messages, metrics and headers. Default: made from host and port.").optional(),
  labels: z.record(z.string(), z.string()).describe("Free labels, for filters that select by label.").optional(),
  auth: auth.describe("Its own key, instead of the pool's.").optional(),
  tls: tlsOptions.describe("Its own way of TLS, instead of the pool's.").optional(),
});

/** `spec.pool`. */
export const poolSchema = z.strictObject({
  name: lineOfText
    .describe(
      'What poolRef.name of an InferenceModelRewrite points at. Default "default", or the name of spec.kubernetes.inferencePool.',
    )
    .optional(),
  endpoints: orElse(z.array(endpoint).max(MAX_SLOTS).describe("The replicas."), []),
  auth: auth
    .describe(
      "The key that replicas want (vllm serve --api-key): sent with probes, and with requests instead of the client's own.",
    )
    .optional(),
  tls: tlsOptions.describe("TLS to replicas at https:// addresses, for requests and probes.").optional(),
  forwardCredentials: setting(
    onOff(true, "Whether replicas without `auth` get the client's own Authorization, X-Api-Key, Api-Key and Cookie headers."),
  ),
  probes: orEmpty(
    z.strictObject({
      startup: probe(PROBE_DEFAULTS.startup, "Until it succeeds once, the replica gets no traffic."),
      liveness: probe(PROBE_DEFAULTS.liveness, "Whether the server process responds."),
      readiness: probe(PROBE_DEFAULTS.readiness, "Whether the replica can serve its models now."),
    }),
    "How replicas are checked. What is left out gets the recommended value.",
  ),
  roles: z
    .strictObject({
      prefill: labelSelector.describe("Those that process prompts for others.").optional(),
      decode: labelSelector.describe("Those that generate answers to prompts of others.").optional(),
      both: labelSelector.describe("Those that may do either.").optional(),
    })
    .describe(
      "Which endpoints do what where spec.disaggregation takes prompts and answers apart. Default: as the label llm-d.ai/role says.",
    )
    .optional(),
  adapters: orEmpty(
    z.strictObject({ unlisted: setting(UNLISTED), byClients: setting(ADAPTERS_BY_CLIENTS) }),
    "Who has replicas load adapters: the first request for one, and clients.",
  ),
});

/** An unchecked endpoint and its place. */
export interface EndpointEntry {
  readonly spec: z.infer<typeof endpoint>;
  /** Its paths are relative to the endpoint. */
  readonly report: Report;
}

/** An endpoint and the entry that it was made from. */
interface NamedEndpoint {
  readonly spec: EndpointSpec;
  readonly entry: EndpointEntry;
}

/** Checked endpoints with names and complete addresses. Names and addresses must be unique. */
export function readEndpoints(entries: readonly EndpointEntry[]): readonly NamedEndpoint[] {
  const names = new Map<string, string>();
  const urls = new Set<string>();
  return entries.flatMap((entry) => {
    const { spec, report } = entry;
    return placesOf(entry).map(({ name, url: { href } }) => {
      if (urls.has(href)) report(["url"], { found: `the endpoint ${quoted(href)} a second time`, wanted: "each once" });
      urls.add(href);
      const owner = names.get(name);
      if (owner !== undefined && owner !== href)
        report(["name"], {
          found: `the name ${quoted(name)}, which ${owner} has already`,
          wanted: "a name of its own for each endpoint",
        });
      names.set(name, href);
      return { spec: { name, url: href, labels: spec.labels ?? {} }, entry };
    });
  });
}

/** None if the address can't be used. */
function placesOf({ spec, report }: EndpointEntry): ReturnType<typeof endpointsAt> {
  try {
    return endpointsAt(spec);
  } catch (error) {
    report(["url"], { found: "a URL that can't be used", hint: `${thrownMessage(error)}${urlHint(spec.url)}` });
    return [];
  }
}

/**
 * The router's own keys for replicas; undefined if the config says nothing of keys, so that requests need not look. Adds their files
 * to `files`.
 */
export async function readCredentials(
  pool: z.infer<typeof poolSchema>,
  endpoints: readonly NamedEndpoint[],
  place: Place,
  files: Set<string>,
): Promise<CredentialSettings | undefined> {
  const ofEndpoint = new Map<string, Secret>();
  for (const { spec, entry } of endpoints) {
    const { auth } = entry.spec;
    const own = { file: place.file, report: entry.report };
    const secret = auth && (await readSecret(auth.bearer, ["auth", "bearer"], own, files));
    if (secret !== undefined) ofEndpoint.set(spec.name, secret);
  }
  const ofPool = pool.auth && (await readSecret(pool.auth.bearer, ["spec", "pool", "auth", "bearer"], place, files));
  const isForwarded = pool.forwardCredentials;
  if (ofPool === undefined && ofEndpoint.size === 0 && isForwarded) return undefined;
  return { ofPool, ofEndpoint, isForwarded };
}

/** What the pool and its endpoints say of TLS. */
export function replicaTlsEntries(
  pool: z.infer<typeof poolSchema>,
  endpoints: readonly NamedEndpoint[],
  place: Place,
): readonly ReplicaTlsEntry[] {
  const ofEndpoints = endpoints.map(({ spec: { name }, entry }) => {
    return { endpoint: name, spec: entry.spec.tls, path: ["tls"], place: { file: place.file, report: entry.report } };
  });
  return [{ spec: pool.tls, path: ["spec", "pool", "tls"], place }, ...ofEndpoints];
}
