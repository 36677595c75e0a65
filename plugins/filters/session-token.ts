import type { Endpoint } from "../../core/contract/endpoint.ts";
import { z } from "../../core/contract/options.ts";
import type { ResponseHeader } from "../../core/contract/profile-plugin.ts";
import type { InferenceRequest } from "../../core/contract/request.ts";

/** Options of both session-affinity plugins. */
export const sessionOptions = z.strictObject({
  /** The header with the token: responses carry it, and the client sends it with its next request. */
  headerName: z
    .string()
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "a header name")
    .transform((name) => name.toLowerCase())
    .default("x-session-token"),
});

/** The candidate that the request's token names; undefined without a token, or if it names no candidate. */
export function sessionEndpoint(
  { headers }: InferenceRequest,
  headerName: string,
  candidates: readonly Endpoint[],
): Endpoint | undefined {
  const token = headers.get(headerName);
  if (token === undefined || token === "") return undefined;
  const asked = Buffer.from(token, "base64").toString("utf8");
  return candidates.find(({ name }) => name === asked);
}

/** The header that brings the client back to this endpoint: the endpoint's name in base64, which clients may see. */
export function sessionHeader(headerName: string, { name }: Endpoint): ResponseHeader {
  return [headerName, Buffer.from(name, "utf8").toString("base64")];
}
