import type { EndpointUrl } from "../contract/endpoint.ts";
import { printable } from "../contract/printable.ts";
import { httpGet } from "../wire/http-get.ts";
import { GetError } from "../wire/http-get-result.ts";

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Fetches one JSON document from a router's admin port, with all texts in it made printable. Rejects with an Error that says
 * what to do.
 */
export async function askAdmin(admin: EndpointUrl, path: string): Promise<unknown> {
  const { status, body } = await httpGet(admin, path, { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES }).catch((thrown) => {
    throw new Error(`${whyNoPage(thrown, admin)}; start the router, or name its admin port with --admin URL.`);
  });
  const document = readJson(body);
  if (status === 200 && document !== undefined) return document;
  throw new Error(`What listens at ${admin.href} is not a router's admin port; name the admin port with --admin URL.`);
}

function whyNoPage(thrown: unknown, { href }: EndpointUrl): string {
  if (!(thrown instanceof GetError)) throw thrown;
  return thrown.reason === "refused"
    ? `Nobody listens at ${href}`
    : `No response came from ${href} (${thrown.message.toLowerCase()})`;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text, (_key, value: unknown) => printableValue(value));
  } catch {
    return undefined;
  }
}

/** Names from outside can be values and keys, for example of labels. */
function printableValue(value: unknown): unknown {
  if (typeof value === "string") return printable(value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [printable(key), inner]));
}
