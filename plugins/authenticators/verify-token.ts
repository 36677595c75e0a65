import type { JSONWebKeySet, JWTPayload, JWTVerifyGetKey } from "jose";
import { RouterError } from "../../core/contract/errors.ts";

// The only file that knows the package jose. It is loaded only by programs whose config lists the plugin.

export type KeySet = JSONWebKeySet;
export type Claims = JWTPayload;

export interface TokenRules {
  readonly issuer: string;
  readonly audience: string | string[];
  readonly algorithms: string[];
  readonly skewS: number;
  readonly nameClaim: string;
}

let jose: typeof import("jose") | undefined;

export async function loadVerifier(): Promise<void> {
  jose ??= await import("jose");
}

/** Picks the key that a token was signed with. Throws where the set can't be used. */
export function keyPicker(keys: KeySet): JWTVerifyGetKey {
  return loaded().createLocalJWKSet(keys);
}

/** True where the set has no key of the token's id: its issuer may have a new one. */
export function isUnknownKey(thrown: unknown): boolean {
  return thrown instanceof loaded().errors.JWKSNoMatchingKey;
}

/** The issuer that a token names, unchecked; undefined for what is no token. */
export function issuerOf(token: string): string | undefined {
  try {
    return loaded().decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

/** The claims of a valid token. Rejects with what jose throws. */
export async function verifiedClaims(token: string, pick: JWTVerifyGetKey, rules: TokenRules, nowMs: number): Promise<Claims> {
  const { issuer, audience, algorithms, skewS, nameClaim } = rules;
  const { payload } = await loaded().jwtVerify(token, pick, {
    ...{ issuer, audience, algorithms },
    clockTolerance: skewS,
    currentDate: new Date(nowMs),
    requiredClaims: ["exp", nameClaim],
  });
  return payload;
}

/** Why a token is refused, without anything that is in it. */
export function tokenRefusal(thrown: unknown): RouterError {
  const { JWTExpired, JWTClaimValidationFailed, JOSEAlgNotAllowed } = loaded().errors;
  if (thrown instanceof RouterError) return thrown;
  if (thrown instanceof JWTExpired) return refused("This token has expired; get a new one.");
  if (thrown instanceof JWTClaimValidationFailed)
    return refused(`This token is not for this router: look at its claim ${known(thrown.claim)}.`);
  if (thrown instanceof JOSEAlgNotAllowed)
    return refused("This token is signed with an algorithm that this router does not take.");
  return refused("This token is not signed by a key of its issuer, or is no token at all; get a new one.");
}

const CLAIMS: ReadonlySet<string> = new Set(["iss", "aud", "nbf", "exp", "iat", "sub"]);
const known = (claim: string) => (CLAIMS.has(claim) ? claim : "for the name");

function refused(message: string): RouterError {
  return new RouterError("invalid_api_key", message);
}

function loaded(): typeof import("jose") {
  if (jose === undefined) throw new Error("The verifier is not loaded");
  return jose;
}
