import type { Endpoint, EndpointUrl } from "../contract/endpoint.ts";
import type { ReplicaTls } from "../settings.ts";

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

export interface ExchangeOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Aborting it rejects with a GetError at once. */
  readonly signal?: AbortSignal;
  /** Read at https:// addresses only. */
  readonly tls?: ReplicaTls | undefined;
}

export interface GetOptions extends ExchangeOptions {
  /** Limit for the whole exchange, connecting included. */
  readonly timeoutMs: number;
  /** Longest body that is accepted. */
  readonly maxBytes: number;
}

export interface SentRequest extends ExchangeOptions {
  /** In upper case. */
  readonly method: string;
  /** JSON text; undefined for no body. */
  readonly body: string | undefined;
}

export interface SendOptions extends SentRequest, GetOptions {}

export interface Exchange extends SentRequest {
  /** For the whole of it; for a stream, the time without a byte. */
  readonly limitMs: number;
  readonly isStream: boolean;
}
