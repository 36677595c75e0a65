import type { EndpointSpec } from "../core/contract/endpoint.ts";
import { endpointName } from "../core/contract/endpoint-name.ts";
import { parseEndpointUrl } from "../core/control/endpoint-url.ts";
import { PROBE_DEFAULTS, type ProbeSpec, type Probes } from "../core/control/readiness/probes.ts";
import type { Finding, Report } from "./problems.ts";
import { quoted } from "./problems.ts";
import type { PoolSpec, ProbeSeconds } from "./schema.ts";

/** An unchecked endpoint and its place. */
export interface EndpointEntry {
  readonly spec: {
    readonly url: string;
    readonly name?: string | undefined;
    readonly labels?: Readonly<Record<string, string>> | undefined;
  };
  readonly auth?: { readonly bearer: string } | undefined;
  /** Its paths are relative to the endpoint. */
  readonly report: Report;
}

/** An endpoint and the entry that it was made from. */
export interface NamedEndpoint {
  readonly spec: EndpointSpec;
  readonly entry: EndpointEntry;
}

/** Checked endpoints with names and complete addresses. Names and addresses must be unique. */
export function readEndpoints(entries: readonly EndpointEntry[]): readonly NamedEndpoint[] {
  const names = new Map<string, string>();
  const urls = new Set<string>();
  return entries.flatMap((entry) => {
    const { spec, report } = entry;
    const parsed = readUrl(spec.url);
    if ("found" in parsed) {
      report(["url"], parsed);
      return [];
    }
    if (urls.has(parsed.href))
      report(["url"], { found: `the endpoint ${quoted(parsed.href)} a second time`, wanted: "each once" });
    urls.add(parsed.href);
    const name = spec.name ?? endpointName(parsed);
    const owner = names.get(name);
    if (owner !== undefined && owner !== parsed.href) report(["name"], secondName(name, owner));
    names.set(name, parsed.href);
    return [{ spec: { name, url: parsed.href, labels: spec.labels ?? {} }, entry }];
  });
}

function secondName(name: string, owner: string): Finding {
  return { found: `the name ${quoted(name)}, which ${owner} has already`, wanted: "a name of its own for each endpoint" };
}

function readUrl(text: string): ReturnType<typeof parseEndpointUrl> | Finding {
  try {
    return parseEndpointUrl(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { found: "a URL that can't be used", hint: `${reason}${suggestion(text)}` };
  }
}

/** A hint with the address and its missing scheme, if nothing else is wrong with it. */
function suggestion(text: string): string {
  // Text before an "@" may be a password; messages must not repeat it.
  if (text.includes("://") || text.includes("@")) return "";
  try {
    return ` Did you mean ${quoted(parseEndpointUrl(`http://${text}`).href)}?`;
  } catch {
    return "";
  }
}

/** The config's probes; recommended values for what it leaves out. */
export function readProbes(probes: PoolSpec["probes"]): Probes {
  return {
    startup: readProbe(probes?.startup, PROBE_DEFAULTS.startup),
    liveness: readProbe(probes?.liveness, PROBE_DEFAULTS.liveness),
    readiness: readProbe(probes?.readiness, PROBE_DEFAULTS.readiness),
  };
}

function readProbe(probe: ProbeSeconds | undefined, defaults: ProbeSpec): ProbeSpec {
  return {
    path: probe?.path ?? defaults.path,
    initialDelayMs: milliseconds(probe?.initialDelaySeconds) ?? defaults.initialDelayMs,
    periodMs: milliseconds(probe?.periodSeconds) ?? defaults.periodMs,
    timeoutMs: milliseconds(probe?.timeoutSeconds) ?? defaults.timeoutMs,
    failureThreshold: probe?.failureThreshold ?? defaults.failureThreshold,
  };
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.round(seconds * 1000);
}
