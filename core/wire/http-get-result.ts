import type { Endpoint, EndpointUrl } from "../contract/endpoint.ts";
import type { TlsFailure } from "./tls-failures.ts";

/** The response to one GET; `body` is decoded as UTF-8. */
export interface GetResult {
  readonly status: number;
  readonly body: string;
}

/** A replica; without a name another server, which gets no key. */
export interface GetTarget {
  readonly name?: string;
  readonly url: EndpointUrl;
  /** The replica whose TLS settings the other server has. */
  readonly tlsOf?: string;
  /** The plugin whose TLS settings it has instead. */
  readonly tlsOfPlugin?: string | undefined;
}

/**
 * Sends one GET to a replica, with the router's key if it has one for this endpoint. `path` is appended to the URL's base path,
 * `timeoutMs` covers the whole exchange, `maxBytes` the body. Rejects with a GetError.
 */
export type HttpGet = (
  target: GetTarget,
  path: string,
  timeoutMs: number,
  maxBytes: number,
  signal: AbortSignal,
) => Promise<GetResult>;

/** Sends one POST with a JSON document; otherwise like HttpGet. */
export type HttpPost = (
  endpoint: Endpoint,
  path: string,
  document: unknown,
  timeoutMs: number,
  maxBytes: number,
) => Promise<GetResult>;

/** Why there is no response that its reader can use. */
export type GetFailure =
  | "refused" // nobody listens
  | "no such host" // its name is unknown
  | "name lookup failed" // nobody says at the moment whether its name is known
  | "unreachable" // no way leads to the host
  | "timeout"
  | "reset" // the connection ended early, or the caller aborted
  | "invalid" // not HTTP/1.1, or not the document its reader expects
  | TlsFailure
  | "too-large"; // longer than the reader allows

/** That nobody took the connection; what holds the address may have ended. */
export const NOBODY_THERE: ReadonlySet<string> = new Set<GetFailure>([
  ...(["refused", "no such host", "name lookup failed", "unreachable"] as const),
]);

export class GetError extends Error {
  readonly reason: GetFailure;

  constructor(reason: GetFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "GetError";
    this.reason = reason;
  }
}
