import { sha256 } from "../../../core/runtime/sha256.ts";

/**
 * The salt of a tenant's prompts: no other tenant has it, whatever salts its clients send. Clients of the tenant that share a salt of
 * their own share this one, too.
 */
export function tenantSalt(tenant: string, clientSalt: string): string {
  return sha256(JSON.stringify([tenant, clientSalt]));
}
