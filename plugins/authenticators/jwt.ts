import { hash } from "node:crypto";
import { resolve } from "node:path";
import { RouterError } from "../../core/contract/errors.ts";
import { nameSet } from "../../core/contract/name-set.ts";
import { z } from "../../core/contract/options.ts";
import { defineAuthenticator } from "../../core/contract/plugin.ts";
import type { Principal } from "../../core/contract/principal.ts";
import { KeptKeys, KeySource } from "./key-source.ts";
import { limits } from "./limits.ts";
import { readFile, readUrl } from "./read-jwks.ts";
import {
  type Claims,
  issuerOf,
  isUnknownKey,
  type KeySet,
  keyPicker,
  loadVerifier,
  tokenRefusal,
  verifiedClaims,
} from "./verify-token.ts";

/** Only those with a public key: with a shared one, whoever can check a token could make one. */
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"] as const;

const claim = z.string().min(1);

const options = z
  .strictObject({
    /** The claim `iss` of its tokens. */
    issuer: z.string().min(1),
    /** The claim `aud`, or one of them. */
    audience: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
    /** Where the issuer's keys are, as a JSON Web Key Set: a URL, or a file relative to the config file. */
    jwksUrl: z.url({ protocol: /^https?$/ }).optional(),
    jwksFile: z.string().min(1).optional(),
    algorithms: z.array(z.enum(ALGORITHMS)).min(1).default(["RS256", "ES256", "EdDSA"]),
    /** How far the clocks of issuer and router may be apart. */
    skewSeconds: z.number().min(0).max(600).default(30),
    /** The claims that say who asks. Models are a list, or names in one text with spaces between them; without a claim for them, all. */
    claims: z
      .strictObject({
        name: claim.default("sub"),
        tenant: claim.optional(),
        models: claim.optional(),
        priority: claim.optional(),
      })
      .prefault({}),
    /** Of each principal. */
    limits: limits.default({}),
  })
  .refine(({ jwksUrl, jwksFile }) => (jwksUrl === undefined) !== (jwksFile === undefined), "either jwksUrl or jwksFile");

type ClaimNames = z.infer<typeof options>["claims"];

const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const LONGEST_TOKEN = 16 * 1024;
const LONGEST_NAME = 128;
/** Tokens that were verified a moment ago. */
const MOST_KNOWN = 10_000;
const OLDEST_MS = { url: 600_000, file: 5_000 };
const PAUSE_MS = { url: 10_000, file: 1_000 };

/**
 * A verified token is remembered by its digest until it expires, or the issuer's keys are read again: to check a signature takes a
 * thousand times as long as to find the digest.
 */
export default defineAuthenticator({
  type: "jwt",
  summary: "Clients who show a token that an issuer has signed, as a JSON Web Token.",
  options,
  load: loadVerifier,
  create({ issuer, audience, jwksUrl, jwksFile, algorithms, skewSeconds, claims, limits }, { clock, log, folder, signal, keep }) {
    const rules = { issuer, audience, algorithms, skewS: skewSeconds, nameClaim: claims.name };
    const known = new Map<string, { readonly principal: Principal; readonly endsMs: number }>();
    const path = resolve(folder, jwksFile ?? "");
    const kind = jwksUrl === undefined ? "file" : "url";
    const source = new KeySource({
      from: jwksUrl ?? path,
      kept: keep(1, () => new KeptKeys<ReturnType<typeof keyPicker>>()),
      read: async () => {
        const keys = keyPicker((await (jwksUrl === undefined ? readFile(path) : readUrl(jwksUrl, signal, clock))) as KeySet);
        known.clear();
        return keys;
      },
      maxAgeMs: OLDEST_MS[kind],
      pauseMs: PAUSE_MS[kind],
      clock,
      log,
    });

    const claimsOf = async (token: string): Promise<Claims> => {
      const keys = source.latest() ?? (await source.refresh());
      if (keys === undefined) throw unavailable();
      try {
        return await verifiedClaims(token, keys, rules, clock.wall());
      } catch (thrown) {
        if (!isUnknownKey(thrown)) throw thrown;
        return verifiedClaims(token, (await source.refresh()) ?? keys, rules, clock.wall());
      }
    };
    const verified = async (token: string, digest: string): Promise<Principal> => {
      try {
        const found = await claimsOf(token);
        const principal = principalOf(found, claims, limits);
        if (known.size >= MOST_KNOWN) known.clear();
        known.set(digest, { principal, endsMs: 1000 * ((found.exp ?? 0) + skewSeconds) });
        return principal;
      } catch (thrown) {
        throw tokenRefusal(thrown);
      }
    };
    return {
      authenticate(credential) {
        if (credential.length > LONGEST_TOKEN || !TOKEN.test(credential)) return undefined;
        const digest = hash("sha256", credential, "base64url");
        // Also reads the issuer's keys anew in the background, when they are old.
        const found = source.latest() && known.get(digest);
        if (found !== undefined && clock.wall() < found.endsMs) return found.principal;
        return issuerOf(credential) === issuer ? verified(credential, digest) : undefined;
      },
      trouble: () => source.trouble(),
    };
  },
});

function principalOf(claims: Claims, names: ClaimNames, limits: Principal["limits"]): Principal {
  const name = textIn(claims, names.name);
  const tenant = names.tenant === undefined ? name : textIn(claims, names.tenant);
  const priority = names.priority === undefined ? 0 : claims[names.priority];
  return {
    name,
    tenant,
    priority: Number.isSafeInteger(priority) ? Math.max(-1000, Math.min(1000, priority as number)) : 0,
    models: names.models === undefined ? undefined : nameSet(modelsIn(claims[names.models])),
    limits,
  };
}

/** Throws RouterError: what names somebody must be there. */
function textIn(claims: Claims, name: string): string {
  const value = claims[name];
  if (typeof value === "string" && value !== "" && value.length <= LONGEST_NAME) return value;
  throw new RouterError(
    "invalid_api_key",
    "This token does not say who asks; its issuer has to add the claims that the router reads.",
  );
}

/** None where there is no such claim. */
function modelsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return value.split(" ").filter((name) => name !== "");
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
}

function unavailable(): RouterError {
  const message = "The keys of the token's issuer can't be read now; send the request again in a moment.";
  return new RouterError("authentication_unavailable", message, { retryAfterS: 5 });
}
