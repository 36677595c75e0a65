import type { BodyMember } from "../contract/body-member.ts";
import type { Draft } from "../contract/draft.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { InferenceRequest } from "../contract/request.ts";
import type { Trace } from "../contract/trace.ts";
import type { Run } from "../run.ts";
import type { CredentialSettings } from "../settings.ts";
import { bearerFor } from "../wire/bearer.ts";
import { credentialLines, forwardedForLine, requestLines, requestLinesWithoutCredentials } from "../wire/forwarded-headers.ts";
import { withoutTraceLines } from "../wire/trace-lines.ts";
import { sentBody } from "./sent-body.ts";

/** Writes the target into the body, with other members in place of the client's, and makes the header lines. */
export function makeDraft(request: InferenceRequest, run: Run, trace: Trace | undefined, members?: readonly BodyMember[]): Draft {
  const { head, query, peer, decoder, config } = run;
  const { forwardedFor, credentials } = config.settings;
  const { method } = head;
  const { body, changedBy } = sentBody(request, run, members);
  let bodyBytes = 0;
  for (const part of body) bodyBytes += part.length;
  const hasBody = bodyBytes > 0 || method === "POST" || method === "PUT" || method === "PATCH";
  const kept = credentials === undefined ? requestLines(head) : requestLinesWithoutCredentials(head);
  const isAsReceived = decoder === undefined || (changedBy.length === 0 && decoder.original !== undefined);
  const passed = isAsReceived ? kept : kept.replace(/^content-encoding:.*\r\n/gim, "");
  const lines =
    `${trace === undefined ? passed : withoutTraceLines(passed, trace)}Accept-Encoding: identity\r\nX-Request-Id: ${request.id}\r\n` +
    forwardedForLine(head, peer, forwardedFor) +
    (hasBody ? `Content-Length: ${bodyBytes}\r\n` : "");
  return {
    method,
    pathAndQuery: sentTarget(query === "" ? request.path : `${request.path}?${query}`, request),
    lines,
    credentialLines: credentials?.isForwarded ? credentialLines(head) : "",
    body,
    changedBy,
  };
}

function sentTarget(pathAndQuery: string, { modelSpan: [start, end], modelIn, model, target }: InferenceRequest): string {
  if (modelIn !== "target" || target === model) return pathAndQuery;
  return pathAndQuery.slice(0, start) + encodeURIComponent(target) + pathAndQuery.slice(end);
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
