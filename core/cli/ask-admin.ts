import type { EndpointUrl } from "../contract/endpoint.ts";
import { httpGet } from "../wire/http-get.ts";
import { GetError } from "../wire/http-get-result.ts";

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 64 * 1024 * 1024;

/** Characters that could steer a terminal; names from outside may hold them. */
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** One JSON page of a running router, its texts fit for a terminal. Rejects with an Error that says what to do. */
export async function askAdmin(admin: EndpointUrl, path: string): Promise<unknown> {
  const { status, body } = await httpGet(admin, path, { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES }).catch((thrown) => {
    throw new Error(`${whyNoPage(thrown, admin)}; start the router, or name its admin port with --admin URL.`);
  });
  const document = readJson(body);
  if (status === 200 && document !== undefined) return document;
  throw new Error(`What listens at ${admin.href} is no router's admin port; name that with --admin URL.`);
}

function whyNoPage(thrown: unknown, { href }: EndpointUrl): string {
  if (!(thrown instanceof GetError)) throw thrown;
  return thrown.reason === "refused"
    ? `Nobody listens at ${href}`
    : `No answer came from ${href} (${thrown.message.toLowerCase()})`;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text, (_key, value: unknown) => (typeof value === "string" ? value.replace(UNPRINTABLE, "?") : value));
  } catch {
    return undefined;
  }
}
