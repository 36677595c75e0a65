import { spliceModel, spliceSalt, spliceText } from "../body/splice.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { InferenceRequest } from "../contract/request.ts";
import type { Trace } from "../contract/trace.ts";
import type { Run } from "../run.ts";
import type { CredentialSettings, Settings } from "../settings.ts";
import { bearerFor } from "../wire/bearer.ts";
import { credentialLines, forwardedForLine, requestLines, requestLinesWithoutCredentials } from "../wire/forwarded-headers.ts";
import { withoutTraceLines } from "../wire/trace-lines.ts";

/** The request to send, without the endpoint's address. */
export interface Draft {
  readonly method: string;
  /** Path and query as the client sent them, but for a model's name that was rewritten. */
  readonly pathAndQuery: string;
  /** Complete header lines, framing included; Host and credentials are added for each endpoint, `traceparent` for each try. */
  readonly lines: string;
  /** The lines with the client's own key, for endpoints to which the router shows none; "" where they are among `lines`. */
  readonly credentialLines: string;
  /** The body's bytes in parts: the original, or the plain one with the target's name, and perhaps a salt, spliced in. */
  readonly body: readonly Uint8Array[];
}

/** Writes the target into the body and makes the header lines. */
export function makeDraft(
  request: InferenceRequest,
  { ticket: { path }, head, query, peer, decoder }: Run,
  { forwardedFor, credentials }: Settings,
  trace: Trace | undefined,
): Draft {
  const { method } = head;
  const body = sentBody(request, decoder?.original);
  let bodyBytes = 0;
  for (const part of body) bodyBytes += part.length;
  const hasBody = bodyBytes > 0 || method === "POST" || method === "PUT" || method === "PATCH";
  const kept = credentials === undefined ? requestLines(head) : requestLinesWithoutCredentials(head);
  const passed = decoder === undefined || body[0] === decoder.original ? kept : kept.replace(/^content-encoding:.*\r\n/gim, "");
  const lines =
    `${trace === undefined ? passed : withoutTraceLines(passed, trace)}Accept-Encoding: identity\r\nX-Request-Id: ${request.id}\r\n` +
    forwardedForLine(head, peer, forwardedFor) +
    (hasBody ? `Content-Length: ${bodyBytes}\r\n` : "");
  return {
    method,
    pathAndQuery: sentTarget(query === "" ? path : `${path}?${query}`, request),
    lines,
    credentialLines: credentials?.isForwarded ? credentialLines(head) : "",
    body,
  };
}

function sentTarget(pathAndQuery: string, { modelSpan: [start, end], modelIn, model, target }: InferenceRequest): string {
  if (modelIn !== "target" || target === model) return pathAndQuery;
  return pathAndQuery.slice(0, start) + encodeURIComponent(target) + pathAndQuery.slice(end);
}

/** `same` is the body where nothing is written into it. */
function sentBody(request: InferenceRequest, same = request.body): readonly Uint8Array[] {
  const { body, model, modelSpan, modelIn, target, isSalted, saltSpan, cacheSalt } = request;
  if (modelIn !== undefined) return modelIn === "target" || target === model ? [same] : spliceText(body, modelSpan, target);
  if (isSalted && saltSpan !== undefined) return spliceSalt(body, saltSpan, cacheSalt, modelSpan, target);
  return modelSpan[0] >= 0 ? spliceModel(body, modelSpan, target, same) : [same];
}

/**
 * The request's head for `endpoint`. A key that the router has for it takes the place of the client's own. `ownLines` are lines of
 * this try alone.
 */
export function requestHead(
  draft: Draft,
  { name, url }: Endpoint,
  credentials: CredentialSettings | undefined,
  ownLines = "",
): string {
  const bearer = bearerFor(name, credentials);
  const credential = bearer === undefined ? draft.credentialLines : `Authorization: ${bearer}\r\n`;
  const start = `${draft.method} ${url.basePath}${draft.pathAndQuery} HTTP/1.1\r\nHost: ${url.hostHeader}\r\n`;
  return `${start}${credential}${ownLines}${draft.lines}\r\n`;
}
