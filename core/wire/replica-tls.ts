import { createSecureContext, type SecureContext } from "node:tls";
import type { ReplicaTls, ReplicaTlsSettings } from "../settings.ts";
import type { GetTarget } from "./http-get-result.ts";

/** What the config says of TLS to the endpoint of this name. */
export function replicaTlsFor(endpoint: string, settings: ReplicaTlsSettings | undefined): ReplicaTls | undefined {
  return settings?.ofEndpoint.get(endpoint) ?? settings?.ofPool;
}

/** The same for whatever probes and sources ask; undefined where the system's authorities decide. */
export function targetTlsFor(
  { name, tlsOf = name, tlsOfPlugin }: GetTarget,
  settings: ReplicaTlsSettings | undefined,
): ReplicaTls | undefined {
  if (tlsOfPlugin !== undefined) return settings?.ofPlugin.get(tlsOfPlugin);
  return tlsOf === undefined ? undefined : replicaTlsFor(tlsOf, settings);
}

/** Whether open connections to a replica stay in use when the config changes from one of these to the other. */
export function isSameTls(before: ReplicaTls | undefined, after: ReplicaTls | undefined): boolean {
  return (
    before?.authorities?.pem === after?.authorities?.pem &&
    before?.pair?.cert === after?.pair?.cert &&
    before?.serverName === after?.serverName &&
    before?.isInsecure === after?.isInsecure
  );
}

/** Made once: reading certificates takes longer than a handshake that resumes a session. */
const contexts = new WeakMap<ReplicaTls, SecureContext>();

/** What a connection to such a replica trusts and shows. Without authorities, it trusts the runtime's own. */
export function contextFor(tls: ReplicaTls): SecureContext {
  const known = contexts.get(tls);
  if (known !== undefined) return known;
  const { authorities, pair } = tls;
  const made = createSecureContext({
    minVersion: "TLSv1.2",
    ...(authorities && { ca: authorities.pem }),
    ...(pair && { cert: pair.cert, key: pair.key.reveal() }),
  });
  contexts.set(tls, made);
  return made;
}
