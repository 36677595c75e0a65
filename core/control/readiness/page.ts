import type { EndpointUrl } from "../../contract/endpoint.ts";

/** What came back for one GET. */
export interface Page {
  readonly status: number;
  readonly body: string;
}

/** Fetches one page of a replica; rejects with a PageError. `path` comes after the URL's base path. */
export type PageFetch = (
  url: EndpointUrl,
  path: string,
  timeoutMs: number,
  maxBytes: number,
  signal: AbortSignal,
) => Promise<Page>;

/**
 * Why there is no page: nobody listens; the host can't be reached or its name not found; too slow; the connection ended
 * early; not HTTP, or not a page its reader understands; longer than allowed.
 */
export type PageFailure = "refused" | "unreachable" | "timeout" | "reset" | "invalid" | "too-large";

export class PageError extends Error {
  readonly reason: PageFailure;

  constructor(reason: PageFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "PageError";
    this.reason = reason;
  }
}
