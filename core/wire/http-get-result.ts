import type { Endpoint, EndpointUrl } from "../contract/endpoint.ts";

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
