import type { Secret } from "../../core/contract/secret.ts";
import type { CredentialSettings } from "../../core/settings.ts";
import type { Resource } from "../read/fit.ts";
import { readSecret } from "../read/secret.ts";
import type { NamedEndpoint } from "./pool.ts";
import type { RouterDocument } from "./schema.ts";

/**
 * The router's own keys for replicas; undefined if the config says nothing of keys, so that requests need not look. Adds their files
 * to `files`.
 */
export async function readCredentials(
  resource: Resource<RouterDocument>,
  endpoints: readonly NamedEndpoint[],
  files: Set<string>,
): Promise<CredentialSettings | undefined> {
  const { pool } = resource.document.spec;
  const ofEndpoint = new Map<string, Secret>();
  for (const { spec, entry } of endpoints) {
    const { auth } = entry.spec;
    const place = { file: resource.file, report: entry.report };
    const secret = auth && (await readSecret(auth.bearer, ["auth", "bearer"], place, files));
    if (secret !== undefined) ofEndpoint.set(spec.name, secret);
  }
  const ofPool = pool.auth && (await readSecret(pool.auth.bearer, ["spec", "pool", "auth", "bearer"], resource, files));
  const isForwarded = pool.forwardCredentials;
  if (ofPool === undefined && ofEndpoint.size === 0 && isForwarded) return undefined;
  return { ofPool, ofEndpoint, isForwarded };
}
