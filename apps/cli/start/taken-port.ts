import { createServer } from "node:net";
import { parseEndpointUrl } from "../../../core/contract/endpoint-url.ts";
import { printable } from "../../../core/contract/printable.ts";
import { GetError } from "../../../core/wire/get-error.ts";
import { httpGet } from "../../../core/wire/http-get.ts";
import type { GetResult } from "../../../core/wire/http-get-result.ts";
import { urlOf } from "./ports.ts";

/** For each question to whatever holds the port. */
const ASK = { timeoutMs: 500, maxBytes: 8 * 1024 * 1024 };
/** So many ports behind the one that is taken are tried. */
const MOST_TRIED = 50;
const LAST_PORT = 65_535;

/** What answers at an address of this machine that is taken, for a sentence: " by Prometheus"; "" where that can't be told. */
export async function holderText(host: string, port: number): Promise<string> {
  try {
    const [health, status] = await Promise.all([ask(host, port, "/-/healthy"), ask(host, port, "/status")]);
    if (/^Prometheus\b.*\bis Healthy/i.test(health.body)) return " by Prometheus, whose usual port is 9090 too";
    const pool = poolOf(status);
    return pool === undefined ? " by another HTTP server" : ` by a router of this program${pool}`;
  } catch (thrown) {
    if (thrown instanceof GetError && thrown.reason === "invalid") return " by something that does not speak HTTP";
    return "";
  }
}

function ask(host: string, port: number, path: string): Promise<GetResult> {
  return httpGet(parseEndpointUrl(urlOf(host, port)), path, ASK);
}

/** Of a router's admin port: its pool for a sentence, or "" where it asks for a token. Undefined for another server. */
function poolOf({ status, body }: GetResult): string | undefined {
  try {
    const document = JSON.parse(body) as { pool?: unknown; isWell?: unknown; error?: { code?: unknown } } | null;
    if (status === 401 && document?.error?.code === "unauthorized") return "";
    if (typeof document?.pool === "string" && typeof document.isWell === "boolean")
      return ` (pool "${printable(document.pool)}")`;
  } catch {
    // No JSON.
  }
  return undefined;
}

/** The next port of this host that is free; undefined where there is none near. */
export async function freePortAfter(host: string, port: number): Promise<number | undefined> {
  for (let next = port + 1; next <= Math.min(LAST_PORT, port + MOST_TRIED); next++) if (await isFree(host, next)) return next;
  return undefined;
}

async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen({ host, port }, resolve));
    await new Promise<void>((resolve) => server.close(() => resolve()));
    return true;
  } catch {
    return false;
  }
}
