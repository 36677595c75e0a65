import { userInfo } from "node:os";
import { CommandError, type Input, UsageError } from "../../../config/command.ts";
import type { EndpointUrl } from "../../../core/contract/endpoint.ts";
import { printable } from "../../../core/contract/printable.ts";
import { GetError } from "../../../core/wire/get-error.ts";
import { httpSend } from "../../../core/wire/http-get.ts";
import type { GetResult, SendOptions } from "../../../core/wire/http-get-result.ts";
import { fileTextOf } from "../frame/command.ts";

const TIMEOUT_MS = 5_000;
/** A change may load plugins. */
const CHANGE_TIMEOUT_MS = 60_000;
const MAX_BYTES = 64 * 1024 * 1024;
const TOKEN_VARIABLE = "SIGNALBOX_ADMIN_TOKEN";

/**
 * Fetches one JSON document from a router's admin port, with all texts in it made printable. It is the router's own, so its shape is
 * known. Rejects with a CommandError that says what to do.
 */
export async function askAdmin<Document>(input: Input, path: string, asked: Partial<SendOptions> = {}): Promise<Document> {
  const { admin } = input;
  const headers = { ...tokenHeader(input), ...asked.headers };
  const options = { method: "GET", body: undefined, timeoutMs: TIMEOUT_MS, ...asked, headers, maxBytes: MAX_BYTES };
  const result = await httpSend(admin, path, options).catch((thrown) => unreachable(thrown, admin));
  const document = readJson(result.body);
  if (result.status === 200 && document !== undefined) return document as Document;
  throw refusalOf(result, admin);
}

/** Changes something through the admin API, if it still has this version, and returns its response. Rejects with a CommandError that says what to do. */
export async function changeThroughAdmin<Document>(
  input: Input,
  method: "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  body: unknown = {},
  version?: string,
): Promise<Document> {
  const headers = { "user-agent": `signalbox (${userName()})`, ...(version !== undefined && { "if-match": `"${version}"` }) };
  return askAdmin(input, path, { method, body: JSON.stringify(body), headers, timeoutMs: CHANGE_TIMEOUT_MS });
}

/** The path of a part of the API, with its parameters and query encoded. */
export function apiPath(parts: readonly string[], query: Readonly<Record<string, string | number | undefined>> = {}): string {
  const pairs = Object.entries(query).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]]));
  const path = ["/api/v1", ...parts.map(encodeURIComponent)].join("/");
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
}

/** Throws UsageError for a token's file that can't be read. */
export function tokenHeader(input: Input): Readonly<Record<string, string>> {
  const token = fileTextOf(input, "token-file") ?? process.env[TOKEN_VARIABLE];
  if (token === undefined) return {};
  if (!/^[\x20-\x7e]*$/.test(token))
    throw new UsageError(`The token for the admin port, of --token-file or ${TOKEN_VARIABLE}, is one line of ASCII characters.`);
  return { authorization: `Bearer ${token}` };
}

/** For the router's log. */
function userName(): string {
  try {
    return userInfo().username.replace(/[^\x20-\x7e]/g, "?");
  } catch {
    return "unknown user";
  }
}

/** A refusal of the API, or of a page. */
interface ProblemDocument {
  readonly detail?: string;
  readonly faults?: readonly string[];
  readonly error?: { readonly code?: string; readonly message?: string };
}

/** Codes of pages that no other port has. */
const OF_PAGES: readonly unknown[] = ["unauthorized", "unknown_host"];
const HOW = `\n  The commands send the one in the file of --token-file, or in ${TOKEN_VARIABLE}.`;

/** What to tell people about a response that is not what was asked for. */
export function refusalOf({ status, body }: GetResult, admin: EndpointUrl): CommandError {
  const { detail, faults = [], error } = (readJson(body) ?? {}) as ProblemDocument;
  const text = OF_PAGES.includes(error?.code) ? error?.message : detail;
  if (typeof text === "string")
    return new CommandError(exitCodeOf(status), textWithFaults(text, faults) + (status === 401 ? HOW : ""));
  return new CommandError(4, `What listens at ${admin.href} is not a router's admin port; name the admin port with --admin URL.`);
}

/** The causes come first: what follows from them says little without them. */
function textWithFaults(text: string, faults: readonly string[]): string {
  return [...faults, text.replace(/; see faults\.$/, ".")].join("\n  ");
}

/** 2 (wrong usage) if the router refuses the request itself; 1 if it can't do what is asked, because the config does not fit or has changed. */
function exitCodeOf(status: number): number {
  return status >= 500 || status === 409 || status === 412 || status === 422 ? 1 : 2;
}

/** Throws a CommandError for a GetError, and anything else as it is. */
export function unreachable(thrown: unknown, { href }: EndpointUrl, named = "--admin"): never {
  if (!(thrown instanceof GetError)) throw thrown;
  const why =
    thrown.reason === "refused" ? `Nobody listens at ${href}` : `No response came from ${href} (${thrown.message.toLowerCase()})`;
  const how = named === "--admin" ? "its admin port with --admin URL or SIGNALBOX_ADMIN" : `its address with ${named} URL`;
  throw new CommandError(4, `${why}; start the router, or name ${how}.`);
}

function readJson(text: string): unknown {
  try {
    return printableJson(text);
  } catch {
    return undefined;
  }
}

/** How a character that is not printable may stand in JSON's texts: as an escape. */
const ESCAPES = /\\[bfnrtu]/;

/** Reads JSON, with all texts in it made printable. Throws SyntaxError. */
export function printableJson(text: string): unknown {
  // Looking at each value takes far longer than reading them all, and hardly any document needs it.
  const withoutBreaks = text.replace(/[\t\n\r]/g, "");
  if (printable(withoutBreaks) === withoutBreaks && !ESCAPES.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown) => printableValue(value));
}

/** Names from outside can be values and keys, for example of labels. */
function printableValue(value: unknown): unknown {
  if (typeof value === "string") return printable(value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [printable(key), inner]));
}
