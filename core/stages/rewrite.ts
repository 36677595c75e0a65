import { spliceModel } from "../body/splice.ts";
import type { InferenceRequest } from "../contract/request.ts";
import type { Incoming } from "../intake/incoming.ts";
import type { Settings } from "../settings.ts";
import { forwardedForLine, requestLines } from "../wire/forwarded-headers.ts";

/** The request to send, without the endpoint's address. */
export interface Draft {
  readonly method: string;
  /** Path and query as the client sent them. */
  readonly pathAndQuery: string;
  /** Complete header lines, framing included; the Host line is added for each endpoint. */
  readonly lines: string;
  /** The body's bytes in parts: the original, or the original with the target's name spliced in. */
  readonly body: readonly Uint8Array[];
}

/** Writes the target into the body and makes the header lines. */
export function rewrite(request: InferenceRequest, incoming: Incoming, { forwardedFor }: Settings): Draft {
  const { head, method, path, query, peer } = incoming;
  const hasModel = request.modelSpan[0] >= 0;
  const body = hasModel ? spliceModel(request.body, request.modelSpan, request.target) : [request.body];
  let bodyBytes = 0;
  for (const part of body) bodyBytes += part.length;
  const hasBody = bodyBytes > 0 || method === "POST" || method === "PUT" || method === "PATCH";
  const lines =
    `${requestLines(head)}Accept-Encoding: identity\r\nX-Request-Id: ${request.id}\r\n` +
    forwardedForLine(head, peer, forwardedFor) +
    (hasBody ? `Content-Length: ${bodyBytes}\r\n` : "");
  return { method, pathAndQuery: query === "" ? path : `${path}?${query}`, lines, body };
}
