import type { EndpointUrl } from "../contract/endpoint.ts";

/** What came back for one GET. */
export interface GetResult {
  readonly status: number;
  readonly body: string;
}

/** Fetches one page of a replica; rejects with a GetError. `path` comes after the URL's base path. */
export type HttpGet = (
  url: EndpointUrl,
  path: string,
  timeoutMs: number,
  maxBytes: number,
  signal: AbortSignal,
) => Promise<GetResult>;

/**
 * Why there is no page: nobody listens; the host can't be reached or its name not found; too slow; the connection ended
 * early; not HTTP, or not a page its reader understands; longer than allowed.
 */
export type GetFailure = "refused" | "unreachable" | "timeout" | "reset" | "invalid" | "too-large";

export class GetError extends Error {
  readonly reason: GetFailure;

  constructor(reason: GetFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "GetError";
    this.reason = reason;
  }
}
