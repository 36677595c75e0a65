import { hash } from "node:crypto";
import { RouterError } from "../../core/contract/errors.ts";
import { nameSet } from "../../core/contract/name-set.ts";
import { z } from "../../core/contract/options.ts";
import { defineAuthenticator } from "../../core/contract/plugin.ts";
import type { Principal } from "../../core/contract/principal.ts";
import { limits } from "./limits.ts";

const key = z.strictObject({
  name: z.string().min(1),
  /** Of the key's bytes; 64 hex digits in lower case. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  models: z.array(z.string().min(1)).optional(),
  tenant: z.string().min(1).optional(),
  priority: z.int().default(0),
  /** Milliseconds since 1970. */
  expiresMs: z.number().optional(),
  limits: limits.default({}),
});

type Key = z.infer<typeof key>;

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
  options: z.strictObject({ keys: z.array(key) }),
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

function knownKey({ name, tenant = name, priority, models, expiresMs = Number.POSITIVE_INFINITY, limits }: Key): KnownKey {
  return { principal: { name, tenant, priority, models: models && nameSet(models), limits }, expiresMs };
}
