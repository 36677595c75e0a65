import type { Secret } from "./contract/secret.ts";
import { defaultsOf, type ValuesOf } from "./settings/row.ts";
import {
  ADAPTERS_BY_CLIENTS,
  FORWARDED_FOR,
  LIMITS,
  type MIN_TLS_VERSION,
  type PROBE,
  RESPONSE_HEADERS,
  RETRIES,
  UNLISTED,
} from "./settings/tables.ts";

// The settings as the router uses them, with every default filled in. What each one means is in the tables of core/settings/.

/** What the config sets besides plugins and endpoints. All limits are finite; times are in milliseconds, sizes in bytes. */
export interface Settings {
  readonly limits: Limits;
  readonly retries: RetrySettings;
  /** Which names may be sent to replicas that do not list them: the config's targets, any name that clients ask for, or none. */
  readonly unlisted: typeof UNLISTED.default;
  /** Whether clients may have replicas load and unload adapters. */
  readonly adaptersByClients: boolean;
  /** What replicas are told of a request's addresses: the peer's behind those that came, the peer's alone, or nothing. */
  readonly forwardedFor: typeof FORWARDED_FOR.default;
  /** Undefined: replicas get the keys that came with the requests. */
  readonly credentials: CredentialSettings | undefined;
  /** Undefined: the system's authorities decide, and no certificate is shown. */
  readonly replicaTls: ReplicaTlsSettings | undefined;
  /** Undefined: web pages of other origins can't read responses. */
  readonly cors: CorsSettings | undefined;
  /** Whether responses have the headers x-signalbox-endpoint and x-signalbox-model. */
  readonly hasRoutingHeaders: boolean;
  /** What prompts are hashed with, where several routers must have the same hashes; left out, it is drawn. */
  readonly prefixSecret?: readonly number[];
}

export type Limits = ValuesOf<typeof LIMITS>;
export type RetrySettings = ValuesOf<typeof RETRIES>;

/** A certificate with its chain and its key. */
export interface CertificatePair {
  readonly certFile: string;
  readonly keyFile: string;
  /** Host names that it is for, in lower case; "*.example" is for one more label. */
  readonly names: readonly string[];
  /** In PEM form. */
  readonly cert: string;
  readonly key: Secret;
  /** In milliseconds since 1970. */
  readonly beginsAtMs: number;
  readonly expiresAtMs: number;
  /** Why the files can't be used now; this pair is then what they held before. "" if they can be used. */
  readonly fault: string;
}

/** Certificates of authorities. */
export interface Authorities {
  readonly file: string;
  readonly pem: string;
  /** Of the one that expires last, in milliseconds since 1970. */
  readonly beginsAtMs: number;
  readonly expiresAtMs: number;
  /** As that of a CertificatePair. */
  readonly fault: string;
}

/** How replicas at https:// addresses are spoken to. */
export interface ReplicaTls {
  /** Whose certificates are accepted; undefined: those of the system. */
  readonly authorities: Authorities | undefined;
  /** The name that a certificate must have; undefined: the host of the URL. */
  readonly serverName: string | undefined;
  /** What the router shows; undefined: nothing. */
  readonly pair: CertificatePair | undefined;
  /** Whether every certificate is accepted. */
  readonly isInsecure: boolean;
}

export interface ReplicaTlsSettings {
  /** For endpoints that have none of their own. */
  readonly ofPool: ReplicaTls | undefined;
  /** By the endpoints' names. */
  readonly ofEndpoint: ReadonlyMap<string, ReplicaTls>;
  /** Of sources' own servers, by the names of the plugins. */
  readonly ofPlugin: ReadonlyMap<string, ReplicaTls>;
}

/** How a port of the router's own speaks TLS. */
export interface ServerTls {
  /** The first is for clients that ask for no name, or for one that nobody has. */
  readonly pairs: readonly CertificatePair[];
  /** Who signs the certificates that clients must show; undefined: they need none. */
  readonly clientCa: Authorities | undefined;
  readonly minVersion: typeof MIN_TLS_VERSION.default;
}

/** What the config says to each feature, by the key of its section, which alone knows the type. */
export type FeatureConfigs = ReadonlyMap<string, unknown>;

/** Which web pages may read responses. */
export interface CorsSettings {
  /** As browsers write them, such as "https://chat.example"; undefined for pages of every origin. */
  readonly origins: ReadonlySet<string> | undefined;
  /** Request headers that pages may send; undefined for all that they ask for. */
  readonly headers: readonly string[] | undefined;
  /** How long a browser may keep the answer to a preflight. */
  readonly maxAgeS: number;
}

/** Who shows a key to replicas: the router its own, or clients theirs. */
export interface CredentialSettings {
  /** The key for replicas that have none of their own. */
  readonly ofPool: Secret | undefined;
  /** Keys of single endpoints, by their names. */
  readonly ofEndpoint: ReadonlyMap<string, Secret>;
  /** Whether a client's own key goes to replicas for which the router has none. */
  readonly isForwarded: boolean;
}

/** One probe of a replica: the fields of a Kubernetes probe, with times in milliseconds. */
export interface ProbeSpec extends Readonly<Record<keyof typeof PROBE, number>> {
  readonly path: string;
}

export interface Probes {
  /** Is the model loaded? Runs until it is. */
  readonly startup: ProbeSpec;
  /** Does the process still respond? */
  readonly liveness: ProbeSpec;
  /** May the replica get requests? */
  readonly readiness: ProbeSpec;
}

export const DEFAULT_LIMITS: Limits = defaultsOf(LIMITS);

export const DEFAULT_SETTINGS: Settings = {
  limits: DEFAULT_LIMITS,
  retries: defaultsOf(RETRIES),
  unlisted: UNLISTED.default,
  adaptersByClients: ADAPTERS_BY_CLIENTS.default,
  forwardedFor: FORWARDED_FOR.default,
  credentials: undefined,
  replicaTls: undefined,
  cors: undefined,
  hasRoutingHeaders: RESPONSE_HEADERS.default,
};
