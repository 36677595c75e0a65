import type { CredentialSettings } from "../settings.ts";

/** The Authorization that the router shows to the endpoint of this name; undefined if it has no key for it. */
export function bearerFor(endpoint: string, credentials: CredentialSettings | undefined): string | undefined {
  const secret = credentials?.ofEndpoint.get(endpoint) ?? credentials?.ofPool;
  return secret && `Bearer ${secret.reveal()}`;
}
