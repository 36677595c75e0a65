import type { AdminToken } from "../../core/router-config.ts";
import { Problem } from "./problem.ts";

/** Who may read and change things on the admin port. */
export interface AdminAccess {
  readonly isReadOnly: boolean;
  readonly tokens: readonly AdminToken[];
  /** Whether the port can be reached from other machines. Changes then need a token. */
  readonly isOpenToNetwork: boolean;
}

const READ_ONLY = "The admin API is read-only here: spec.admin.readOnly is true.";
const NO_TOKEN =
  "The admin port is open to the network, so changes need a token: set spec.admin.token or spec.admin.tokens, or listen on loopback.";
const NO_CHANGER = "The tokens of spec.admin.tokens may only read: give one of them the role change.";
const SEND_TOKEN = "Send a token of spec.admin.token or spec.admin.tokens as Authorization: Bearer TOKEN.";
const MAY_ONLY_READ = "This token may only read; a change needs one whose role in spec.admin.tokens is change.";

/** What is allowed; `reason` says why no change is, "" where they are. */
export interface Permission {
  readonly mayChange: boolean;
  readonly needsToken: boolean;
  readonly needsTokenToRead: boolean;
  readonly reason: string;
}

/** What `checkRead` and `checkChange` ask of everybody. */
export function permissionOf(access: AdminAccess): Permission {
  const { tokens } = access;
  const reason = obstacle(access);
  const needsTokenToRead = tokens.some(({ role }) => role === "read");
  return { mayChange: reason === "", needsToken: reason === "" && tokens.length > 0, needsTokenToRead, reason };
}

/** Why nobody may change anything; "" if somebody may. */
function obstacle({ isReadOnly, tokens, isOpenToNetwork }: AdminAccess): string {
  if (isReadOnly) return READ_ONLY;
  if (tokens.length === 0) return isOpenToNetwork ? NO_TOKEN : "";
  return tokens.some(({ role }) => role === "change") ? "" : NO_CHANGER;
}

/**
 * Throws Problem unless the body is declared as JSON. A web site can't send application/json to another origin without asking first,
 * and the admin port never agrees.
 */
export function checkJson(headers: Headers): void {
  if (!/^application\/json *(;|$)/i.test(headers.get("content-type") ?? ""))
    throw new Problem(415, "unsupported_media_type", "Send the body with Content-Type: application/json.");
}

/**
 * Throws Problem unless who sends this Authorization may read. `isWork`: what is asked for takes the router's time, so a port that is open to
 * the network asks for a token if there is one.
 */
export function checkRead(authorization: string | undefined, access: AdminAccess, isWork = false): void {
  const mustBring = permissionOf(access).needsTokenToRead || (isWork && access.isOpenToNetwork && access.tokens.length > 0);
  if (mustBring && tokenOf(authorization, access) === undefined) throw new Problem(401, "unauthorized", SEND_TOKEN);
}

/** Throws Problem unless the request may change something; returns the name of the token that it brought, "" for none. */
export function checkChange(headers: Headers, access: AdminAccess): string {
  if (access.isReadOnly) throw new Problem(403, "read_only", READ_ONLY);
  checkJson(headers);
  return checkAuthor(headers.get("authorization") ?? undefined, access);
}

function checkAuthor(authorization: string | undefined, access: AdminAccess): string {
  if (access.tokens.length === 0) {
    if (!access.isOpenToNetwork) return "";
    throw new Problem(403, "token_required", NO_TOKEN);
  }
  const token = tokenOf(authorization, access);
  if (token === undefined) throw new Problem(401, "unauthorized", SEND_TOKEN);
  if (token.role !== "change") throw new Problem(403, "may_only_read", MAY_ONLY_READ);
  return token.name;
}

function tokenOf(authorization: string | undefined, { tokens }: AdminAccess): AdminToken | undefined {
  const sent = /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
  return sent === undefined ? undefined : tokens.find(({ secret }) => isSameText(sent, secret.reveal()));
}

/** Compares in a time that depends on the sent text alone. `text` is not empty. */
function isSameText(sent: string, text: string): boolean {
  let difference = sent.length ^ text.length;
  for (let i = 0; i < sent.length; i++) difference |= sent.charCodeAt(i) ^ text.charCodeAt(i % text.length);
  return difference === 0;
}

/** Throws Problem if the request was made for another version of what it changes. */
export function checkVersion(ifMatch: string | null, version: string): void {
  if (ifMatch === null) return;
  const tags = ifMatch.split(",").map((tag) => tag.trim());
  if (!tags.every((tag) => tag === "*" || /^(W\/)?"[^"]*"$/.test(tag)))
    throw new Problem(400, "bad_if_match", 'If-Match wants the version in quotes, as the ETag of a GET has it, such as "3".');
  if (tags.includes("*") || tags.includes(etagOf(version))) return;
  const detail = `It was changed since you read it: its version is ${version} by now. Read it again, then repeat the change.`;
  throw new Problem(412, "generation_changed", detail);
}

export function etagOf(version: string): string {
  return `"${version}"`;
}
