import { hash } from "node:crypto";
import { RouterError } from "../../core/contract/errors.ts";
import { nameSet } from "../../core/contract/name-set.ts";
import { z } from "../../core/contract/options.ts";
import { defineAuthenticator } from "../../core/contract/plugin.ts";
import type { Principal, PrincipalLimits } from "../../core/contract/principal.ts";

/** One key, as the section of the config has checked it. */
interface Key {
  readonly name: string;
  /** Default: the name. */
  readonly tenant?: string;
  readonly priority?: number;
  readonly limits?: PrincipalLimits;
  /** Of the key's bytes; 64 hex digits in lower case. */
  readonly sha256: string;
  readonly models?: readonly string[] | undefined;
  /** Milliseconds since 1970. */
  readonly expiresMs?: number | undefined;
}

/** The keys are not checked again: of ten thousand, that would hold up the requests of a running router. */
const options = z.strictObject({ keys: z.custom<readonly Key[]>(Array.isArray) });

interface KnownKey {
  readonly principal: Principal;
  readonly expiresMs: number;
}

/** Longer ones are nobody's keys, and would take time to be hashed. */
const LONGEST_KEY = 512;
const ASCII = /^[\x20-\x7e]*$/;

/**
 * A key is hashed first and looked up by its digest. How long the look-up takes may tell something of the digest, but nobody can choose
 * a key for the digest that it will have, so a client learns nothing of a key that it does not have.
 */
export default defineAuthenticator({
  type: "keys",
  summary: "The clients whose keys spec.auth lists.",
  options,
  create({ keys }, { clock }) {
    const known = new Map(keys.map((each) => [each.sha256, knownKey(each)] as const));
    return {
      authenticate(credential) {
        if (credential.length > LONGEST_KEY) return undefined;
        const found = known.get(digestOf(credential));
        if (found === undefined) return undefined;
        if (clock.wall() >= found.expiresMs)
          throw new RouterError("invalid_api_key", "This key has expired; get a new one from the operator.");
        return found.principal;
      },
    };
  },
});

/** Headers hold bytes, a character for each. */
function digestOf(credential: string): string {
  return hash("sha256", ASCII.test(credential) ? credential : Buffer.from(credential, "latin1"), "hex");
}

function knownKey(key: Key): KnownKey {
  const { name, tenant = name, priority = 0, models, expiresMs = Number.POSITIVE_INFINITY, limits = {} } = key;
  return { principal: { name, tenant, priority, models: models && nameSet(models), limits }, expiresMs };
}
