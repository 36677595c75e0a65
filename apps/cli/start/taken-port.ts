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

const PROMETHEUS = /^Prometheus\b.*\bis Healthy/i;
const OTHER = " by another HTTP server";

/**
 * What answers at an address of this machine that is taken, for a sentence: " by Prometheus"; "" where that can't be told. What is asked of
 * a server is what its kind serves, so that its log has no errors by it; of a strange one two paths that most have.
 */
export async function holderText(host: string, port: number): Promise<string> {
  const ask = (path: string) => httpGet(parseEndpointUrl(urlOf(host, port)), path, ASK);
  try {
    const health = await ask("/health");
    if (health.status === 200) return health.body === "{}" ? servingText(await ask("/ready")) : otherText(health);
    const first = await ask("/");
    if (/<title>Signalbox\b/.test(first.body) || isUnauthorized(first)) return adminText(await ask("/status"));
    if (first.status === 302 && /\/(graph|query)\b/.test(first.body)) return otherText(await ask("/-/healthy"));
    return otherText(first);
  } catch (thrown) {
    if (thrown instanceof GetError && thrown.reason === "invalid") return " by something that does not speak HTTP";
    return "";
  }
}

/** Of what may be a router's port for clients. */
function servingText({ body }: GetResult): string {
  const { ready, endpoints } = (jsonIn(body) ?? {}) as { readonly ready?: unknown; readonly endpoints?: unknown };
  return typeof ready === "number" && typeof endpoints === "number"
    ? ` by a router of this program (${ready} of ${endpoints} replicas ready)`
    : OTHER;
}

/** Of what may be a router's admin port; one that asks for a token does not name its pool. */
function adminText(result: GetResult): string {
  const { pool, isWell } = (jsonIn(result.body) ?? {}) as { readonly pool?: unknown; readonly isWell?: unknown };
  if (isUnauthorized(result)) return " by a router of this program";
  return typeof pool === "string" && typeof isWell === "boolean"
    ? ` by a router of this program (pool "${printable(pool)}")`
    : OTHER;
}

function otherText({ body }: GetResult): string {
  return PROMETHEUS.test(body) ? " by Prometheus, whose usual port is 9090 too" : OTHER;
}

function isUnauthorized({ status, body }: GetResult): boolean {
  const { error } = (jsonIn(body) ?? {}) as { readonly error?: { readonly code?: unknown } };
  return status === 401 && error?.code === "unauthorized";
}

function jsonIn(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
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
