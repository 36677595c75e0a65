import type { Secret } from "../../contract/secret.ts";
import { Problem } from "./problem.ts";

/** Who may change things through the admin API. */
export interface AdminAccess {
  readonly isReadOnly: boolean;
  /** What changes must bring; undefined: none is asked for. */
  readonly token: Secret | undefined;
  /** Whether the port can be reached from other machines. Changes then need a token. */
  readonly isOpenToNetwork: boolean;
}

const READ_ONLY = "The admin API is read-only here: spec.admin.readOnly is true.";
const NO_TOKEN = "The admin port is open to the network, so changes need a token: set spec.admin.token, or listen on loopback.";

/** What of changes is allowed; `reason` says why none is, "" where they are. */
export interface Permission {
  readonly mayChange: boolean;
  readonly needsToken: boolean;
  readonly reason: string;
}

/** What `checkChange` asks of every change. */
export function permissionOf({ isReadOnly, token, isOpenToNetwork }: AdminAccess): Permission {
  const reason = isReadOnly ? READ_ONLY : token === undefined && isOpenToNetwork ? NO_TOKEN : "";
  return { mayChange: reason === "", needsToken: reason === "" && token !== undefined, reason };
}

/**
 * Throws Problem unless the body is declared as JSON. A web site can't send application/json to another origin without asking first,
 * and the admin port never agrees.
 */
export function checkJson(headers: Headers): void {
  if (!/^application\/json *(;|$)/i.test(headers.get("content-type") ?? ""))
    throw new Problem(415, "unsupported_media_type", "Send the body with Content-Type: application/json.");
}

/** Throws Problem unless the request may change something. */
export async function checkChange(headers: Headers, access: AdminAccess, generation: number): Promise<void> {
  if (access.isReadOnly) throw new Problem(403, "read_only", READ_ONLY);
  checkJson(headers);
  await checkToken(headers.get("authorization"), access);
  checkGeneration(headers.get("if-match"), generation);
}

async function checkToken(authorization: string | null, { token, isOpenToNetwork }: AdminAccess): Promise<void> {
  if (token === undefined) {
    if (!isOpenToNetwork) return;
    throw new Problem(403, "token_required", NO_TOKEN);
  }
  const sent = /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
  if (sent === undefined || !(await isSameText(sent, token.reveal())))
    throw new Problem(401, "unauthorized", "Send the token of spec.admin.token as Authorization: Bearer TOKEN.");
}

/** Compares in a time that says nothing about where the texts differ. */
async function isSameText(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([digest(one), digest(other)]);
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ b[i]!;
  return difference === 0;
}

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

/** Throws Problem if the request was made for another generation of the config. */
export function checkGeneration(ifMatch: string | null, generation: number): void {
  if (ifMatch === null) return;
  const tags = ifMatch.split(",").map((tag) => tag.trim());
  if (!tags.every((tag) => tag === "*" || /^(W\/)?"[^"]*"$/.test(tag)))
    throw new Problem(400, "bad_if_match", 'If-Match wants the generation in quotes, as the ETag of a GET has it, such as "3".');
  if (tags.includes("*") || tags.includes(etagOf(generation))) return;
  const detail = `The config is at generation ${generation} by now; read it again, then repeat the change.`;
  throw new Problem(412, "generation_changed", detail);
}

/** The ETag of the config's generation. */
export function etagOf(generation: number): string {
  return `"${generation}"`;
}
